import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import {
  ActionCache,
  type ActionResultSchema,
  DirectorySchema,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase } from "./case.ts";
import { type ClosedFarm } from "./closed-farm.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf } from "./known-attacks.ts";

export const { updateActionResult, getActionResult } = ActionCache.method;
type Result = MessageInitShape<typeof ActionResultSchema>;

export interface Farms extends HostileFarm {
  /** The same program, on a farm that requires authentication. */
  readonly closed: ClosedFarm;
}

export const file = Buffer.from("an output of somebody");
export const here = toDigestMessage(digestOf(file));

export const freshAction = () => digestOf(Buffer.from(`action ${process.hrtime.bigint()}`));

export function refused(
  name: string,
  result: Result | ((farm: Farms) => Promise<Result>),
  ...wanted: string[]
): HostileCase<Farms> {
  return {
    name: `a result with ${name}`,
    async run(farm) {
      await farm.blobs.put(digestOf(file), file);
      const actionDigest = toDigestMessage(freshAction());
      const actionResult = typeof result === "function" ? await result(farm) : result;
      const code = await codeOf(() =>
        farm.channel.unary(updateActionResult, { actionDigest, actionResult }),
      );
      isOneOf(code, ...(wanted.length === 0 ? ["invalid_argument"] : wanted));
      isOneOf(
        await codeOf(() => farm.channel.unary(getActionResult, { actionDigest })),
        "not_found",
      );
    },
  };
}

export async function treeOf(farm: HostileFarm, bytes: Uint8Array): Promise<Result> {
  const digest = digestOf(bytes);
  await farm.blobs.put(digest, bytes);
  return { outputDirectories: [{ path: "out", treeDigest: toDigestMessage(digest) }] };
}

export type Dir = MessageInitShape<typeof DirectorySchema>;
export const tree = (root: Dir, children: readonly Dir[] = []) =>
  toBinary(
    TreeSchema,
    create(TreeSchema, {
      root: create(DirectorySchema, root),
      children: children.map((each) => create(DirectorySchema, each)),
    }),
  );
export const directoryOf = (init: Dir): Digest =>
  digestOf(toBinary(DirectorySchema, create(DirectorySchema, init)));

/** Makes a call on the closed farm, with a token or without one. */
export async function asking<T>(
  { closed }: Farms,
  token: string | undefined,
  ask: (channel: GrpcChannel) => Promise<T>,
): Promise<T> {
  const channel = new GrpcChannel({
    url: closed.url,
    ...(token === undefined ? {} : { metadata: () => ({ authorization: `Bearer ${token}` }) }),
  });
  try {
    return await ask(channel);
  } finally {
    await channel.stop();
  }
}

export const write = (channel: GrpcChannel, instanceName: string, digest: Digest) =>
  codeOf(() =>
    channel.unary(updateActionResult, {
      instanceName,
      actionDigest: toDigestMessage(digest),
      actionResult: { stdoutRaw: Buffer.from("poison") },
    }),
  );
