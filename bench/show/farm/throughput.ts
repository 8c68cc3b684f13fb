import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { forInformation, type Measurement, type Row } from "../row.ts";
import { executionClient } from "./execution-client.ts";

const jobs = 2_000;
const inFlight = 400;

export const throughput: Measurement = {
  title: "2,000 no-op jobs, two workers",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 2 });
    const client = executionClient(farm.url);
    try {
      const warm = await client.prepare();
      await warm();
      const idle = await memory(farm);
      const prepared = await Promise.all(Array.from({ length: jobs }, () => client.prepare()));
      const startedAt = performance.now();
      let next = 0;
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          for (;;) {
            const execute = prepared[next++];
            if (execute === undefined) return;
            await execute();
          }
        }),
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      const how = `${jobs} no-op actions, ${inFlight} at a time, two workers of one slot, each in its sandbox`;
      return [
        forInformation("no-op jobs: executions per second", jobs / seconds, "1/s", how),
        ...memoryRows("idle", idle),
        ...memoryRows("at the end", await memory(farm)),
      ];
    } finally {
      await client.close();
      await farm.stop();
    }
  },
};

async function memory(farm: Farm): Promise<Record<string, number>> {
  const postmaster = Number.parseInt(
    await readFile(join(farm.dataDir, "pgdata", "postmaster.pid"), "utf8"),
    10,
  );
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
  const backends = children.trim().split(" ").map(Number);
  const all = await Promise.all([postmaster, ...backends].map(proportionalMiB));
  return {
    server: await proportionalMiB(farm.server.pid),
    "worker 1": await proportionalMiB(farm.workers[0]?.pid ?? 0),
    "worker 2": await proportionalMiB(farm.workers[1]?.pid ?? 0),
    "PostgreSQL, all its processes": all.reduce((sum, each) => sum + each, 0),
  };
}

/** PSS: shared pages are counted once among those that share them. */
async function proportionalMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1_024;
}

function memoryRows(when: string, sizes: Record<string, number>): Row[] {
  return Object.entries(sizes).map(([process, size]) =>
    forInformation(`memory ${when}: ${process}`, size, "MiB", "PSS from /proc/PID/smaps_rollup"),
  );
}
