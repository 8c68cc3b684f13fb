import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { FakeFarm } from "#worker/fake-farm.fixture.ts";
import { startWorkerOn } from "#worker/start-worker.ts";

interface AheadLoad {
  readonly files: number;
  readonly bytes: number;
  /** Added to each call that fetches blobs. */
  readonly roundTripMs: number;
  /** How long the slot is busy before: the time for look-ahead. */
  readonly busyMs: number;
  readonly rounds: number;
}

/**
 * Measures the time from the start of a claimed action on a worker until its process starts, in ms: alternately with
 * all inputs cold, and with look-ahead. Each round has new inputs.
 */
async function measureLookAhead(load: AheadLoad): Promise<{ cold: number[]; ahead: number[] }> {
  const directory = mkdtempSync(join(tmpdir(), "grange-look-ahead-"));
  const farm = new FakeFarm();
  const far: BlobStore = {
    ...farm.store,
    async get(digest) {
      await delay(load.roundTripMs);
      return farm.store.get(digest);
    },
  };
  farm.blobs = () => far;
  const worker = await startWorkerOn(
    farm,
    readWorkerConfig({
      server: "http://127.0.0.1:1",
      name: "measured",
      slots: 1,
      dataDir: join(directory, "data"),
    }),
    pino({ level: "silent" }),
  );
  const cold: number[] = [];
  const ahead: number[] = [];
  try {
    for (let i = 0; i < 2 * load.rounds; i++) {
      const inputs = Array.from({ length: load.files }, (_, n) => ({
        path: `in/${n % 10}/${n}`,
        text: `${i} ${n} `.padEnd(load.bytes, "x"),
      }));
      const next = await farm.workOf({ script: "true", inputs }, `next-${i}`);
      const { inputRootDigest } = fromBinary(ActionSchema, next.action);
      farm.upcoming = i % 2 === 0 ? [] : [fromDigestMessage(inputRootDigest, "the root")];
      await farm.run({ script: `sleep ${load.busyMs / 1_000}` });
      farm.enqueue(next);
      const { result } = await farm.end(`next-${i}`);
      const times = result?.executionMetadata;
      if (!times?.workerStartTimestamp || !times.executionStartTimestamp)
        throw new Error("no times");
      (i % 2 === 0 ? cold : ahead).push(
        timestampMs(times.executionStartTimestamp) - timestampMs(times.workerStartTimestamp),
      );
    }
    return { cold, ahead };
  } finally {
    await worker.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `npx tsx bench/look-ahead.ts` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const load = { files: 200, bytes: 20 * 1024, roundTripMs: 20, busyMs: 3_000, rounds: 10 };
  const { cold, ahead } = await measureLookAhead(load);
  const told = (ms: readonly number[]) => {
    const sorted = ms.toSorted((a, b) => a - b);
    return `p50 ${sorted[Math.floor(sorted.length / 2)]} ms, ${sorted[0]} to ${sorted.at(-1)}`;
  };
  process.stdout.write(
    `${JSON.stringify(load)}\n  cold   ${told(cold)}\n  ahead  ${told(ahead)}\n`,
  );
}
