import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { emptyDigest } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { startLightWorkers } from "./light-workers.ts";

const workers = 1_000;
const actions = 400;
/** Slow enough that actions do not overlap, over more than one claim wait of the idle workers. */
const pauseMs = 75;

export const claimsOfManyWorkers: Measurement = {
  title: "claims with 1,000 workers",
  long: false,
  measure: () => measureClaims(workers),
};

async function measureClaims(count: number): Promise<Row[]> {
  const farm = await startFarm({ workers: 0 });
  const light = await startLightWorkers(farm.url, count);
  const channel = new GrpcChannel({ url: farm.url });
  try {
    const prepared = await prepareActions(channel, actions);
    const sentAt = new Map<string, number>();
    const claimed = new Map<string, number>();
    let twice = 0;
    light.onClaimed = (hash) => {
      if (claimed.has(hash)) twice++;
      claimed.set(hash, performance.now() - (sentAt.get(hash) ?? Number.NaN));
    };
    const ended: number[] = [];
    const calls: Promise<unknown>[] = [];
    const cpuBefore = cpuSeconds(farm.server.pid);
    const begun = performance.now();
    for (const actionDigest of prepared) {
      const sent = performance.now();
      sentAt.set(actionDigest.hash, sent);
      calls.push(execute(channel, actionDigest).then(() => ended.push(performance.now() - sent)));
      await delay(pauseMs);
    }
    await Promise.all(calls);
    const share = (cpuSeconds(farm.server.pid) - cpuBefore) / ((performance.now() - begun) / 1_000);
    const how =
      `${count} workers of the real protocol that run nothing, all idle; ${actions} actions, one every ${pauseMs} ms, ` +
      `from the Execute call to the worker that got it; p50 ${quantile([...claimed.values()], 0.5).toFixed(1)} ms, ` +
      `to the answer p99 ${quantile(ended, 0.99).toFixed(0)} ms; server ${Math.round(share * 100)} % of a core`;
    return [
      exactly(`executions claimed once, ${count} workers`, claimed.size - twice, actions, "", how),
      atMost(
        `claim with ${count} workers, p99`,
        quantile([...claimed.values()], 0.99),
        100,
        "ms",
        how,
      ),
    ];
  } finally {
    await light.stop();
    await channel.stop();
    await farm.stop();
  }
}

async function prepareActions(channel: GrpcChannel, count: number) {
  const blobs = remoteBlobStore(channel, "");
  const command = toBinary(CommandSchema, create(CommandSchema, { arguments: ["true"] }));
  const commandDigest = toDigestMessage(digestOf(command));
  await blobs.put(digestOf(command), command);
  const digests = [];
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

async function execute(channel: GrpcChannel, digest: ReturnType<typeof digestOf>): Promise<void> {
  const call = { actionDigest: toDigestMessage(digest), skipCacheLookup: true };
  for await (const operation of channel.serverStream(Execution.method.execute, call))
    if (operation.done) return;
}

/** Returns the CPU time of a process so far, from Linux' `/proc`; a tick is 10 ms. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
