import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { type Farm, startFarm } from "../../support/farm.ts";
import { postgresProcessesOf, postmasterOf } from "../farm-processes.ts";
import { checkHistory, type Violation } from "./history.ts";
import { jobsEach, observedLoad } from "./observed-load.ts";

const faults = ["server", "worker", "postmaster", "backend", "everything"] as const;
export type KilledPart = (typeof faults)[number];

interface RandomKills {
  readonly violations: readonly Violation[];
  readonly graphs: number;
  readonly jobs: number;
  readonly kills: number;
  /** From each kill of the server, alone or with all other parts, until it answers again. */
  readonly readyAgainMs: readonly number[];
}

/**
 * Kills random parts of a farm while graphs run, in the default sandbox, and checks its clients' observations.
 *
 * The seed determines the kills and their times; the farm's behaviour also depends on the machine.
 */
export async function killAtRandom(options: {
  readonly kills: number;
  readonly graphs: number;
  readonly seed: number;
}): Promise<RandomKills> {
  const farm = await startFarm({ workers: 2 });
  const load = await observedLoad(farm);
  try {
    const submitting = load.submitMany(options.graphs);
    const readyAgainMs: number[] = [];
    const plan = fc.sample(
      fc.tuple(fc.constantFrom(...faults), fc.integer({ min: 50, max: 1_500 })),
      {
        numRuns: options.kills,
        seed: options.seed,
      },
    );
    for (const [fault, pauseMs] of plan) {
      await delay(pauseMs);
      const ms = await killPart(farm, fault);
      if (ms !== undefined) readyAgainMs.push(ms);
    }
    await submitting;
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    return {
      violations: checkHistory(load.history),
      graphs: load.graphs.length,
      jobs: load.graphs.length * jobsEach,
      kills: options.kills,
      readyAgainMs,
    };
  } finally {
    await farm.stop();
    await load.remove();
  }
}

/** Kills a part of a farm and replaces it. Returns the time until the server answered again, if it was killed, in ms. */
export async function killPart(farm: Farm, part: KilledPart): Promise<number | undefined> {
  switch (part) {
    case "server":
      return restartServer(farm);
    case "worker":
      await replaceWorker(farm);
      return undefined;
    case "postmaster":
      signal(await postmasterOf(farm.dataDir));
      return undefined;
    case "backend":
      // Any of the processes that PostgreSQL has for connections, or for work of its own.
      signal((await postgresProcessesOf(farm.dataDir)).slice(1).at(-1));
      return undefined;
    case "everything": {
      signal(await postmasterOf(farm.dataDir));
      const workers = farm.workers.map(() => replaceWorker(farm));
      const ms = await restartServer(farm);
      await Promise.all(workers);
      return ms;
    }
  }
}

async function restartServer(farm: Farm): Promise<number> {
  const killed = performance.now();
  farm.server.signal("SIGKILL");
  await farm.restartServer();
  return performance.now() - killed;
}

async function replaceWorker(farm: Farm): Promise<void> {
  const worker = farm.workers.shift();
  worker?.signal("SIGKILL");
  await worker?.finished;
  farm.startWorker({ name: `worker-${crypto.randomUUID().slice(0, 8)}` });
}

/** It may have ended by itself meanwhile. */
function signal(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // There is no such process any more.
  }
}
