import { create, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { emptyDigest } from "#core/digest.ts";
import { openPostgres } from "#db/postgres.ts";
import { aRequest } from "#execution/execution.fixture.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { farmDatabaseUrl } from "../../../test/support/farm-database-url.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { memoryOf } from "../start/memory-of.ts";
import { startLightWorkers } from "./light-workers.ts";

const queued = 100_000;
const claims = 2_000;
/** Ten workers with short work: some 150 claims a second. */
const workers = 10;
const pauseMs = 60;
const lanes = 40;
const submittedAtOnce = 5_000;

export const claimsWithFullQueue: Measurement = {
  title: "claims with 100,000 queued",
  long: false,
  measure: () => measure({ mostMs: 100 }),
};

async function measure({ mostMs }: { readonly mostMs: number }): Promise<Row[]> {
  const farm = await startFarm({ workers: 0 });
  try {
    await fillQueue(farm.url, await farmDatabaseUrl(farm));
    const waits: number[] = [];
    let peakKib = 0;
    const begun = performance.now();
    const light = await startLightWorkers(farm.url, workers, { pauseMs });
    try {
      await new Promise<void>((resolve) => {
        light.onClaimed = (_, waitedMs) => {
          waits.push(waitedMs);
          if (waits.length % 100 === 0)
            peakKib = Math.max(peakKib, memoryOf(farm.server.pid).rssKib);
          if (waits.length >= claims) resolve();
        };
      });
    } finally {
      await light.stop();
    }
    const seconds = (performance.now() - begun) / 1_000;
    const how =
      `${queued} executions in ${lanes} lanes, ${workers} workers of the real protocol that run nothing and claim again ` +
      `after ${pauseMs} ms: ${(waits.length / seconds).toFixed(0)} claims a second, from the call to the work; ` +
      `p50 ${quantile(waits, 0.5).toFixed(1)} ms`;
    return [
      exactly(
        `claims with ${queued} queued that gave work`,
        waits.length >= claims ? "all" : "not all",
        "all",
        "",
        how,
      ),
      atMost(`claim with ${queued} queued, p99`, quantile(waits, 0.99), mostMs, "ms", how),
      atMost(
        `memory of the server with ${queued} queued`,
        peakKib / 1_048_576,
        1,
        "GiB",
        "the same run, the largest of 20 readings of its resident set",
      ),
    ];
  } finally {
    await farm.stop();
  }
}

/** Puts executions of one action into the farm's queue, which are not joined because they are not cached. */
export async function fillQueue(
  url: string,
  databaseUrl: string,
  invocations = lanes,
): Promise<void> {
  const channel = new GrpcChannel({ url });
  const db = openPostgres({ url: databaseUrl, poolSize: 1 });
  try {
    const blobs = remoteBlobStore(channel, "");
    const command = toBinary(CommandSchema, create(CommandSchema, { arguments: ["true"] }));
    await blobs.put(digestOf(command), command);
    const action = toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: toDigestMessage(digestOf(command)),
        inputRootDigest: toDigestMessage(emptyDigest),
        doNotCache: true,
      }),
    );
    await blobs.put(digestOf(action), action);
    const actionDigest = digestOf(action);
    for (let from = 0; from < queued; from += submittedAtOnce) {
      const requests = Array.from({ length: submittedAtOnce }, (_, n) =>
        aRequest({
          project: "default",
          actionDigest,
          doNotCache: true,
          invocation: `build-${(from + n) % invocations}`,
          priority: [0, 0, 0, -100, 100][n % 5] ?? 0,
        }),
      );
      await db.transaction((tx) => submitExecutions(tx, requests, new Date()));
    }
  } finally {
    await db.close();
    await channel.stop();
  }
}
