import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import {
  ActionCache,
  ActionSchema,
  CommandSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type FinishedSchema,
  FinishResponse_Verdict,
  type LeaseSchema,
  Outcome,
  Workers,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileFarm } from "./hostile-farm.ts";

const { register, claim, finish } = Workers.method;

export const wellDone = { outcome: Outcome.SUCCEEDED, result: { exitCode: 0 } };

export interface Rogue {
  readonly me: { readonly workerName: string; readonly instanceId: string };
  readonly lease: MessageInitShape<typeof LeaseSchema>;
  readonly action: Digest;
}

/** Returns a worker's description without false claims. */
export function honest(name = `rogue-${randomUUID()}`) {
  return {
    name,
    instanceId: randomUUID(),
    platform: { OSFamily: "linux", rogue: name },
    sizeClass: 1,
    slots: 1,
  };
}

/**
 * Runs a test with a worker that has leased an action.
 *
 * The client of the action disconnects; started work still completes.
 */
export async function withLease<T>(
  farm: HostileFarm,
  use: (rogue: Rogue) => Promise<T>,
): Promise<T> {
  const said = honest();
  await farm.channel.unary(register, said);
  const command = await farm.put(CommandSchema, { arguments: ["true"] });
  const action = await farm.put(ActionSchema, {
    commandDigest: toDigestMessage(command),
    inputRootDigest: toDigestMessage(emptyDigest),
    salt: Buffer.from(said.name),
    platform: {
      properties: Object.entries(said.platform).map(([name, value]) => ({ name, value })),
    },
    timeout: durationFromMs(600_000),
  });
  const leave = new AbortController();
  const asking = farm.channel.serverStream(
    Execution.method.execute,
    { actionDigest: toDigestMessage(action) },
    { signal: leave.signal },
  );
  const heard = (async () => {
    for await (const _ of asking);
  })().catch(() => {});
  try {
    const me = { workerName: said.name, instanceId: said.instanceId };
    const wait = durationFromMs(20_000);
    const { leases } = await farm.channel.unary(claim, { ...me, most: 1, wait });
    const lease = leases[0]?.lease;
    if (lease === undefined) throw new Error("the worker was given nothing");
    return await use({ me, lease, action });
  } finally {
    leave.abort();
    await heard;
  }
}

/** Ends a lease; returns `published`, `refused`, or the code of the failure. */
export async function finishAs(
  { channel }: HostileFarm,
  me: Rogue["me"],
  finished: MessageInitShape<typeof FinishedSchema>,
): Promise<string> {
  let verdict: FinishResponse_Verdict | undefined;
  const code = await codeOf(async () => {
    verdict = (await channel.unary(finish, { ...me, finished: [finished] })).verdicts[0];
  });
  if (code !== "ok") return code;
  return verdict === FinishResponse_Verdict.PUBLISHED ? "published" : "refused";
}

/** Returns whether a client gets a result for the action. */
export async function isPublished({ channel }: HostileFarm, action: Digest): Promise<boolean> {
  const asked = { actionDigest: toDigestMessage(action) };
  return (await codeOf(() => channel.unary(ActionCache.method.getActionResult, asked))) === "ok";
}
