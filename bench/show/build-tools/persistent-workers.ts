import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { buildDirectoryTree, putMissing, uploadDirectories } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { persistentRequestOf } from "#execution/persistent-request-of.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  ExecuteResponseSchema,
  Execution,
  NodePropertiesSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";

const actions = 30;
const slots = 2;
const startSeconds = 0.3;

/** A tool with a slow start, as a compiler on a virtual machine has; its protocol is JSON. */
const tool = `#!/bin/sh
sleep ${startSeconds}
compile() { mkdir -p out; cat in/source >out/result; }
case "$*" in
  *--persistent_worker*) while IFS= read -r request; do compile; echo '{"exitCode":0}'; done ;;
  *) compile ;;
esac
`;

/** What persistent workers save: the start of the tool for each action. */
export const persistentWorkers: Measurement = {
  title: `${actions} actions with a tool that needs ${startSeconds * 1_000} ms to start, with and without persistent workers`,
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    try {
      const common = { GRANGE_WORKER_SLOTS: `${slots}` };
      farm.startWorker({ env: { ...common, GRANGE_WORKER_PLATFORM: "kind=ordinary" } });
      farm.startWorker({
        env: {
          ...common,
          GRANGE_WORKER_PLATFORM: "kind=persistent",
          GRANGE_WORKER_PERSISTENT_WORKERS: `${slots}`,
        },
      });
      const channel = new GrpcChannel({ url: farm.url });
      try {
        return rowsOf(await runAll(channel, "ordinary"), await runAll(channel, "persistent"));
      } finally {
        await channel.stop();
      }
    } finally {
      await farm.stop();
    }
  },
};

function rowsOf(ordinary: Ran, persistent: Ran): Row[] {
  const how = `${actions} actions, ${slots} at a time, one worker with ${slots} slots; the tool sleeps ${startSeconds} s at its start`;
  return [
    forInformation(
      "actions with a slow tool: each with its own process",
      ordinary.seconds,
      "s",
      how,
    ),
    forInformation("actions with a slow tool: persistent workers", persistent.seconds, "s", how),
    atMost(
      "actions with a slow tool: persistent workers, beside processes of their own",
      persistent.seconds / ordinary.seconds,
      0.5,
      "×",
      how,
    ),
    exactly(
      "actions with a slow tool: by persistent workers",
      `${ordinary.byPersistent} and ${persistent.byPersistent}`,
      `0 and ${actions}`,
      "",
      `${how}; those that the results name`,
    ),
  ];
}

interface Ran {
  readonly seconds: number;
  /** The number of actions that a persistent worker served. */
  readonly byPersistent: number;
}

async function runAll(channel: GrpcChannel, kind: string): Promise<Ran> {
  // The worker is ready then. With a key of its own: the starts of the measured processes are part of the time.
  await (await prepare(channel, { kind, key: "warm-up", source: "warm-up" }))();
  const prepared = await Promise.all(
    Array.from({ length: actions }, (_, n) =>
      prepare(channel, { kind, key: "slow-tool", source: `source ${n}` }),
    ),
  );
  const startedAt = performance.now();
  let byPersistent = 0;
  await Promise.all(
    Array.from({ length: slots }, async () => {
      for (let execute = prepared.pop(); execute !== undefined; execute = prepared.pop()) {
        if (await execute()) byPersistent++;
      }
    }),
  );
  return { seconds: (performance.now() - startedAt) / 1_000, byPersistent };
}

/** Uploads an action. The returned function executes it, and returns whether a persistent worker served it. */
async function prepare(
  channel: GrpcChannel,
  { kind, key, source }: { readonly kind: string; readonly key: string; readonly source: string },
): Promise<() => Promise<boolean>> {
  const blobs = remoteBlobStore(channel, "");
  const files = [
    { path: "tool.sh", text: tool, isTool: true },
    { path: "in/source", text: source, isTool: false },
    { path: "in/flags", text: "", isTool: false },
  ].map(({ text, ...file }) => ({ ...file, digest: digestOf(Buffer.from(text)), text }));
  await putMissing(
    blobs,
    files.map(({ digest, text }) => ({ digest, bytes: Buffer.from(text) })),
  );
  const tree = buildDirectoryTree(
    files.map(({ path, digest, isTool }) => ({
      kind: "file",
      path,
      digest,
      executable: isTool,
      ...(isTool
        ? {
            properties: create(NodePropertiesSchema, {
              properties: [{ name: "bazel_tool_input", value: "" }],
            }),
          }
        : {}),
    })),
  );
  const root = await uploadDirectories(blobs, tree);
  const command = toBinary(
    CommandSchema,
    create(CommandSchema, { arguments: ["./tool.sh", "@in/flags"], outputPaths: ["out/result"] }),
  );
  const action = toBinary(
    ActionSchema,
    create(ActionSchema, {
      commandDigest: toDigestMessage(digestOf(command)),
      inputRootDigest: toDigestMessage(root),
      platform: {
        properties: [
          { name: "kind", value: kind },
          { name: "persistentWorkerKey", value: key },
          { name: "persistentWorkerProtocol", value: "json" },
        ],
      },
    }),
  );
  await putMissing(blobs, [
    { digest: digestOf(command), bytes: command },
    { digest: digestOf(action), bytes: action },
  ]);
  return () => execute(channel, digestOf(action));
}

async function execute(channel: GrpcChannel, action: Digest): Promise<boolean> {
  const operations = channel.serverStream(Execution.method.execute, {
    actionDigest: toDigestMessage(action),
    skipCacheLookup: true,
  });
  for await (const operation of operations) {
    if (!operation.done || operation.result.case !== "response") continue;
    const { result, status } = fromBinary(ExecuteResponseSchema, operation.result.value.value);
    if (result?.exitCode !== 0) throw new Error(`an action failed: ${status?.message}`);
    return persistentRequestOf(result) > 0;
  }
  throw new Error("the farm gave no result");
}
