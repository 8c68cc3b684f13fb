import { fileURLToPath } from "node:url";
import { queuePosition } from "#execution/claiming/queue-position.store.ts";
import { aRequest, aWorker } from "#execution/execution.fixture.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { registerWorkers } from "#execution/leasing/worker.store.ts";
import { defaultTimes } from "#execution/queue-times.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";
import { type Percentiles, percentilesOf, withBenchDatabase } from "./bench-database.ts";

/** Measures how long the waiting reason of an execution in a full queue takes, in milliseconds. */
function measurePositions(load: {
  readonly queued: number;
  readonly lanes: number;
  readonly requirementsKinds: number;
  readonly times: number;
}): Promise<Percentiles> {
  const { queued, lanes, requirementsKinds, times } = load;
  return withBenchDatabase(async (db) => {
    const now = new Date();
    const ids: ExecutionId[] = [];
    for (let begin = 0; begin < queued; begin += 5_000) {
      const requests = Array.from({ length: Math.min(5_000, queued - begin) }, (_, j) => {
        const i = begin + j;
        const tool = `tool-${Math.floor(i / lanes) % requirementsKinds}`;
        return aRequest({
          invocation: `graph-${i % lanes}`,
          platform: { OSFamily: "linux", [tool]: "1" },
          priority: [0, 0, 0, -100, 100][i % 5] ?? 0,
        });
      });
      ids.push(...requests.map(({ id }) => id));
      await db.transaction((tx) => submitExecutions(tx, requests, now));
    }
    const tools = Array.from({ length: requirementsKinds }, (_, kind) => [`tool-${kind}`, "1"]);
    const platform = { OSFamily: "linux", ...Object.fromEntries(tools) };
    for (let n = 0; n < 200; n++) await registerWorkers(db, [aWorker(`w${n}`, { platform })], now);

    const took: number[] = [];
    for (let i = 0; i < times; i++) {
      const id = ids[Math.floor((i * queued) / times)];
      if (id === undefined) throw new Error("nothing is queued");
      const began = performance.now();
      await db.transaction((tx) => queuePosition(tx, id, now, defaultTimes));
      took.push(performance.now() - began);
    }
    return percentilesOf(took);
  });
}

/** `npx tsx bench/positions.ts` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [lanes, requirementsKinds] of [
    [1, 1],
    [40, 8],
    [250, 8],
  ] as const) {
    const { p50, p99 } = await measurePositions({
      queued: 100_000,
      lanes,
      requirementsKinds,
      times: 200,
    });
    process.stdout.write(
      `100,000 queued, ${lanes} invocations, ${requirementsKinds} kinds of requirements: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`,
    );
  }
}
