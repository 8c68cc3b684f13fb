import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { z } from "zod";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeTree } from "#cas/tree-message.ts";
import { Digest } from "#core/digest.ts";
import { silent } from "#execution/execution.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { detailsOf } from "#grpc/detailed-fault.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { postTo } from "../../test/support/ask-server.ts";
import { readServerConfig } from "./config.ts";
import { type RunningServer, startServer } from "./start-server.ts";

/** A principal with a token, and the project that it uses. */
export interface Asker {
  readonly project: string;
  readonly token: string;
  readonly channel: GrpcChannel;
  readonly server: RunningServer;
}

/**
 * A closed farm; each principal gets rights in one project only.
 *
 * @param env its settings, as a server's environment has them
 * @param database of this run's PostgreSQL; `own` is one that the farm starts, for programs outside of Vitest
 */
export async function aClosedFarm(
  env: Readonly<Record<string, string>> = {},
  database: "shared" | "own" = "shared",
) {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-projects-"));
  const databaseUrl = database === "shared" ? await sharedDatabase() : undefined;
  const server = await startServer(
    readServerConfig({ dataDir, port: 0, ...(databaseUrl && { databaseUrl }) }, env),
    silent,
  );
  const channels: GrpcChannel[] = [];

  const ask = <T>(path: string, body: unknown, token?: string) =>
    postTo<T>(server, path, body, token);

  const root = (await ask<{ token: string }>("/tokens", { principal: "root" })).token;
  await ask("/grants", { principal: "root", verb: "*", top: true });
  await ask("/grants/remove", { principal: "anyone", verb: "*" }, root);

  return {
    server,
    dataDir,
    /** Returns a token of a principal with these rights in a project. */
    async tokenOf(principal: string, verbs: readonly string[], repository?: string) {
      const { token } = await ask<{ token: string }>("/tokens", { principal }, root);
      const where = repository === undefined ? {} : { repository };
      for (const verb of verbs) await ask("/grants", { principal, verb, ...where }, root);
      return token;
    },
    asker(project: string, token: string): Asker {
      const metadata = token === "" ? {} : { authorization: `Bearer ${token}` };
      const channel = new GrpcChannel({ url: server.url, metadata: () => metadata });
      channels.push(channel);
      return { project, token, channel, server };
    },
    async stop() {
      await Promise.all(channels.map((channel) => channel.stop()));
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Loaded only here, because it needs Vitest. */
async function sharedDatabase(): Promise<string> {
  const { freshDatabase } = await import("../../test/support/fresh-db.ts");
  return freshDatabase();
}

export const blobsOf = ({ channel, project }: Asker) => remoteBlobStore(channel, project);

/** The blobs of a build: a file, a directory with it, the same as a Tree, and an action that reads it. */
export function thingsNamed(seed: string) {
  const file = Buffer.from(`the file of ${seed}`);
  const directory = buildDirectoryTree([
    { kind: "file", path: "below/file", digest: digestOf(file), executable: false },
  ]);
  const tree = encodeTree(directory);
  const command = toBinary(CommandSchema, create(CommandSchema, { arguments: ["cat", seed] }));
  const actionWith = (salt: string) =>
    toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: toDigestMessage(digestOf(command)),
        inputRootDigest: toDigestMessage(directory.root.digest),
        salt: Buffer.from(salt),
      }),
    );
  const directories = [...directory.directories.values()];
  // An action on the same inputs; another principal has this action and its command.
  const actionElsewhere = actionWith("elsewhere");
  return {
    seed,
    bytes: [file, tree, command, actionWith(""), ...directories.map(({ bytes }) => bytes)],
    bytesElsewhere: [command, actionElsewhere],
    file: digestOf(file),
    fileBytes: file,
    root: directory.root.digest,
    below: directories.at(-1)?.digest ?? directory.root.digest,
    tree: digestOf(tree),
    command: digestOf(command),
    action: digestOf(actionWith("")),
    actionElsewhere: digestOf(actionElsewhere),
  };
}
export type Things = ReturnType<typeof thingsNamed>;

/** An action that runs a script on a file named `input`. */
export function actionOf(its: {
  readonly script: string;
  readonly input: string;
  readonly platform: Readonly<Record<string, string>>;
  readonly outputs: string[];
}) {
  const input = Buffer.from(its.input);
  const { root } = buildDirectoryTree([
    { kind: "file", path: "input", digest: digestOf(input), executable: false },
  ]);
  const command = toBinary(
    CommandSchema,
    create(CommandSchema, {
      arguments: ["/bin/sh", "-c", its.script],
      environmentVariables: [{ name: "PATH", value: "/usr/bin:/bin" }],
      outputPaths: its.outputs,
    }),
  );
  const properties = Object.entries(its.platform).map(([name, value]) => ({ name, value }));
  const action = toBinary(
    ActionSchema,
    create(ActionSchema, {
      commandDigest: toDigestMessage(digestOf(command)),
      inputRootDigest: toDigestMessage(root.digest),
      platform: { properties },
    }),
  );
  return { action: digestOf(action), bytes: [input, root.bytes, command, action] };
}

export async function upload(asker: Asker, bytes: readonly Uint8Array[]): Promise<void> {
  for (const each of bytes) await blobsOf(asker).put(digestOf(each), each);
}

const Octets = z.object({ type: z.literal("Buffer"), data: z.array(z.number()) });

/**
 * Returns an answer, or a failure with all its details, as text in which names of things are replaced by common ones.
 */
export async function outcomeOf(things: Things, ask: () => Promise<unknown>): Promise<string> {
  const told = await ask().then(
    (answer) => ({ answer }),
    (reason: Error & { code?: string }) => ({
      code: reason.code,
      message: reason.message,
      details: detailsOf(reason),
    }),
  );
  const text = JSON.stringify(told, (_, value: unknown) => {
    if (typeof value === "bigint") return `${value}`;
    // At this point a Buffer has become an object of numbers.
    if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
    const bytes = Octets.safeParse(value);
    return bytes.success ? Buffer.from(bytes.data.data).toString("latin1") : value;
  });
  const names = Object.entries(things).flatMap(([name, value]) => {
    const digest = Digest.safeParse(value);
    return digest.success ? [{ name, hash: digest.data.hash }] : [];
  });
  return names
    .reduce((so, { name, hash }) => so.replaceAll(hash, name.toUpperCase()), text)
    .replaceAll(things.seed, "SEED")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID");
}
