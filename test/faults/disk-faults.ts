import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import fc from "fast-check";
import { type FarmOnFaultyDisks, farmOnFaultyDisks } from "./farm-on-faulty-disks.ts";
import { postgresProcessesOf } from "./farm-processes.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { type ObservedLoad, observedLoad } from "./history/observed-load.ts";

/** The directories with a disk each, and their sizes in MiB. */
const sizes = { blobs: 96, pgdata: 400, mirrors: 48, workers: 96 };
type Place = keyof typeof sizes;

/** Those that can lack file handles. */
const programs = ["server", "PostgreSQL", "worker"] as const;

type DiskFault =
  | { readonly kind: "full" | "read-only" | "EIO"; readonly place: Place }
  | { readonly kind: "no file handles"; readonly place: (typeof programs)[number] };

/** Each fault in each place. The logs of jobs are in the database and on the worker, and then in the store. */
export const diskFaults: readonly DiskFault[] = [
  ...(["full", "read-only", "EIO"] as const).flatMap((kind) =>
    (Object.keys(sizes) as Place[]).map((place) => ({ kind, place })),
  ),
  ...programs.map((place) => ({ kind: "no file handles" as const, place })),
];

interface AfterDiskFaults {
  /** What clients saw: no result of an affected run is cut short or mixed, also not when it comes from the cache. */
  readonly violations: readonly Violation[];
  readonly recoveries: readonly Recovery[];
}

interface Recovery {
  readonly fault: string;
  /** From the end of the fault until a new graph has succeeded, in ms; nobody did anything else. */
  readonly ms: number;
}

/** How long a fault lasts, in ms. */
const holdMs = { min: 1_500, max: 4_000 };

/**
 * Gives a farm under load one fault of a disk after the other, each in one place.
 *
 * A graph runs when the fault begins, and another one is submitted during the fault: they may fail. Afterwards the same
 * commits are submitted again: they must succeed, and what comes from the cache must be whole.
 */
export async function breakDisks(options: {
  readonly faults: readonly DiskFault[];
  readonly seed: number;
}): Promise<AfterDiskFaults> {
  const world = await farmOnFaultyDisks(sizes, { GRANGE_DURABLE_BLOBS: "1" });
  const load = await observedLoad(world.farm);
  try {
    world.startWorker("worker-1");
    await load.readToItsEnd((await load.submit()).id);
    const times = fc.sample(fc.integer(holdMs), {
      numRuns: options.faults.length,
      seed: options.seed,
    });
    const recoveries: Recovery[] = [];
    for (const [n, fault] of options.faults.entries()) {
      const ms = await survive(world, load, fault, times[n] ?? holdMs.min);
      recoveries.push({ fault: `${fault.place}: ${fault.kind}`, ms });
    }
    return { violations: checkHistory(load.history), recoveries };
  } finally {
    await world.stop();
    await load.remove();
  }
}

async function survive(
  world: FarmOnFaultyDisks<Place>,
  load: ObservedLoad,
  fault: DiskFault,
  ms: number,
): Promise<number> {
  const running = await load.submit();
  await begin(world, fault);
  const submitting = load.submit();
  await delay(ms);
  await end(world, fault);

  const ended = performance.now();
  const submitted = await submitting;
  await untilOneSucceeds(load);
  const recoveredMs = performance.now() - ended;

  for (const { id } of [running, submitted]) await load.readToItsEnd(id, { mayFail: true });
  for (const { commit } of [running, submitted])
    await load.readToItsEnd((await load.submit(commit)).id);
  return recoveredMs;
}

/** Submits new graphs until one has succeeded: the first ones may still meet what the fault left. */
async function untilOneSucceeds(load: ObservedLoad): Promise<void> {
  for (;;) {
    const graph = await load.readToItsEnd((await load.submit()).id, { mayFail: true });
    if (graph === undefined) throw new Error("a graph did not end after the fault had ended");
    if (graph.state === "succeeded") return;
  }
}

async function begin(world: FarmOnFaultyDisks<Place>, fault: DiskFault): Promise<void> {
  switch (fault.kind) {
    case "full":
      return world.disks[fault.place].fill();
    case "read-only":
      return world.disks[fault.place].becomeReadOnly();
    case "EIO":
      return world.disks[fault.place].fail();
    case "no file handles":
      return limitHandles(await processesOf(world, fault.place), noneLeft);
  }
}

async function end(world: FarmOnFaultyDisks<Place>, fault: DiskFault): Promise<void> {
  switch (fault.kind) {
    case "full":
      return world.disks[fault.place].free();
    case "read-only":
    case "EIO":
      await world.disks[fault.place].unmount();
      await world.disks[fault.place].mount();
      return;
    case "no file handles":
      // Processes that PostgreSQL started meanwhile have the limit, too.
      return limitHandles(await processesOf(world, fault.place), plenty);
  }
}

/** Each process has the three standard ones open. */
const noneLeft = 3;
const plenty = 1_024;

async function processesOf(
  { farm, seenDataDir }: FarmOnFaultyDisks<Place>,
  program: (typeof programs)[number],
): Promise<number[]> {
  switch (program) {
    case "server":
      return [farm.server.pid];
    case "PostgreSQL":
      return postgresProcessesOf(seenDataDir);
    case "worker":
      return farm.workers.map(({ pid }) => pid);
  }
}

async function limitHandles(processes: readonly number[], limit: number): Promise<void> {
  for (const pid of processes)
    await promisify(execFile)("prlimit", ["--pid", String(pid), `--nofile=${limit}:`]).catch(
      (reason: unknown) => {
        // A process of PostgreSQL for one connection may have ended by itself.
        if (!/No such process/.test(String(reason))) throw reason;
      },
    );
}
