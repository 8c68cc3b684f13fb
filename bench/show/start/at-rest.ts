import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startProgram } from "../../../test/support/process.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";
import { memoryOf } from "./memory-of.ts";
import { type ProcessFigures, processTree } from "./process-tree.ts";
import { smallRepository } from "./small-repository.ts";

/** The server's tasks with long periods run for the first time between one and two minutes after its start. */
const restMs = 130_000;
const measuredMs = 60_000;
/** `sysconf(_SC_CLK_TCK)` of every Linux that Node runs on. */
const msPerTick = 10;

/** The cost of an idle `grange up`: CPU time and memory. */
export const atRest: Measurement = {
  title: "at rest",
  long: false,
  async measure() {
    const repository = await smallRepository();
    const data = await mkdtemp(join(tmpdir(), "grange-at-rest-"));
    // Its own copy of Node, because pages that it shares with other Node programs of this machine would count only in
    // part.
    const node = join(data, "node");
    await copyFile(process.execPath, node);
    const farm = startProgram(node, [
      "bin/grange.mjs",
      "up",
      "--json",
      "--port",
      "0",
      "--workers",
      "2",
      "--repo",
      repository.path,
      "--data",
      join(data, "farm"),
    ]);
    try {
      // The result of the graph, which has ended by then.
      await farm.line((line) => line.startsWith("{"));
      await setTimeout(restMs);
      return await measureProcesses(farm.pid);
    } finally {
      farm.signal("SIGINT");
      await farm.finished;
      await rm(data, { recursive: true, force: true });
      await repository.remove();
    }
  },
};

async function measureProcesses(root: number): Promise<Row[]> {
  const before = processTree(root);
  const startedAt = performance.now();
  await setTimeout(measuredMs);
  const after = processTree(root);
  const elapsedMs = performance.now() - startedAt;

  const usedMs = (ticksOf(after) - ticksOf(before)) * msPerTick;
  const memory = after.map(({ pid, name }) => ({ name, ...memoryOf(pid) }));
  const sum = (part: (each: (typeof memory)[number]) => number) =>
    memory.reduce((total, each) => total + part(each), 0) / 1_024;
  const byName = [...new Set(memory.map(({ name }) => name))].map((name) => {
    const same = memory.filter((each) => each.name === name);
    const pss = same.reduce((total, each) => total + each.pssKib, 0) / 1_024;
    return `${same.length} × ${name} ${Math.round(pss)} MiB`;
  });
  const how = `grange up with two workers, one graph of four jobs, a rest until the first runs of all periodic tasks have ended, then a minute measured; ${byName.join(", ")}`;
  return [
    atMost(
      "at rest: CPU of one core, all processes",
      (100 * usedMs) / elapsedMs,
      0.5,
      "%",
      `${how}; user and system time in /proc/PID/stat`,
    ),
    atMost(
      "at rest: memory of all processes (PSS)",
      sum(({ pssKib }) => pssKib),
      250,
      "MiB",
      `${how}; shared pages count once`,
    ),
    forInformation(
      "at rest: memory of all processes (RSS)",
      sum(({ rssKib }) => rssKib),
      "MiB",
      `${how}; shared pages count once for each process`,
    ),
  ];
}

function ticksOf(processes: readonly ProcessFigures[]): number {
  return processes.reduce((total, { cpuTicks }) => total + cpuTicks, 0);
}
