import { readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Uploads actions that no cache has, and returns their digests. */
export async function prepareActions(channel: GrpcChannel, count: number): Promise<Digest[]> {
  const blobs = remoteBlobStore(channel, "");
  const command = toBinary(CommandSchema, create(CommandSchema, { arguments: ["true"] }));
  const commandDigest = toDigestMessage(digestOf(command));
  await blobs.put(digestOf(command), command);
  const digests: Digest[] = [];
  for (let i = 0; i < count; i++) {
    const action = toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest,
        inputRootDigest: toDigestMessage(emptyDigest),
        // Makes it unique, so that it is neither joined nor cached.
        salt: Buffer.from(`claim ${process.pid} ${Date.now()} ${i}`),
      }),
    );
    await blobs.put(digestOf(action), action);
    digests.push(digestOf(action));
  }
  return digests;
}

/**
 * Executes an action and waits for its end.
 *
 * @param onAccepted called when the farm has stored the operation
 */
export async function execute(
  channel: GrpcChannel,
  digest: Digest,
  onAccepted: () => void = () => {},
): Promise<void> {
  const call = { actionDigest: toDigestMessage(digest), skipCacheLookup: true };
  let isFirst = true;
  for await (const operation of channel.serverStream(Execution.method.execute, call)) {
    if (isFirst) onAccepted();
    isFirst = false;
    if (operation.done) return;
  }
}

/** Returns the CPU time of a process so far, from Linux' `/proc`; a tick is 10 ms. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
