import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { type Farm, startFarm } from "../support/farm.ts";
import { postgresProcessesOf } from "./farm-processes.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { jobsEach, observedLoad } from "./history/observed-load.ts";

const parts = ["server", "worker", "PostgreSQL"] as const;
type Part = (typeof parts)[number];

interface RandomStops {
  readonly violations: readonly Violation[];
  readonly jobs: number;
  readonly stops: number;
}

/** A worker's lease lasts 15 s without a heartbeat: each stop is longer, and lets another worker take the work. */
const stopMs = { min: 16_000, max: 19_000 };

/**
 * Suspends parts of a farm with SIGSTOP for longer than a lease while graphs run, and judges what its clients saw.
 *
 * A suspended process does not know that time has passed: when it goes on, it holds leases and connections that are
 * long over. The parts are suspended by turns, in an order that the seed decides.
 */
export async function stopAtRandom(options: {
  readonly stops: number;
  /** Graphs that are submitted during each stop. */
  readonly graphsEach: number;
  readonly seed: number;
}): Promise<RandomStops> {
  const farm = await startFarm({ workers: 2 });
  const load = await observedLoad(farm);
  try {
    const rounds = Math.ceil(options.stops / parts.length);
    const order = fc.shuffledSubarray([...parts], { minLength: parts.length });
    const plan = fc.sample(order, { numRuns: rounds, seed: options.seed }).flat();
    const [times] = fc.sample(
      fc.array(fc.integer(stopMs), { minLength: plan.length, maxLength: plan.length }),
      { numRuns: 1, seed: options.seed },
    );
    for (const [n, part] of plan.slice(0, options.stops).entries()) {
      await load.submit();
      const submitting = load.submitMany(options.graphsEach - 1);
      await suspend(await processesOf(farm, part), times?.[n] ?? stopMs.min);
      await submitting;
    }
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    return {
      violations: checkHistory(load.history),
      jobs: load.graphs.length * jobsEach,
      stops: options.stops,
    };
  } finally {
    await farm.stop();
    await load.remove();
  }
}

async function processesOf(farm: Farm, part: Part): Promise<number[]> {
  switch (part) {
    case "server":
      return [farm.server.pid];
    case "worker":
      // The one that has work, or may have it next: the first that started.
      return farm.workers.slice(0, 1).map(({ pid }) => pid);
    case "PostgreSQL":
      return postgresProcessesOf(farm.dataDir);
  }
}

/** Lets the processes go on in any case: a suspended one could not be ended by SIGTERM. */
async function suspend(processes: readonly number[], ms: number): Promise<void> {
  try {
    for (const pid of processes) signal(pid, "SIGSTOP");
    await delay(ms);
  } finally {
    for (const pid of processes) signal(pid, "SIGCONT");
  }
}

/** A process of PostgreSQL for one connection may have ended by itself meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "ESRCH") throw reason;
  }
}
