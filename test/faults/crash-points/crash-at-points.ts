import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { type Farm, startFarm } from "../../support/farm.ts";
import type { Program } from "../../support/process.ts";
import { checkHistory, type Violation } from "../history/history.ts";
import { jobsEach, type ObservedLoad, observedLoad } from "../history/observed-load.ts";

/** The calls at which a program can be killed, and up to which call of a process positions are drawn. */
const calls = [
  { program: "server", call: "commit", most: 120, hasNewRepository: false },
  { program: "server", call: "fsync", most: 50, hasNewRepository: false },
  // The store links its files; a server names files by a rename mostly for the mirror of a new repository.
  { program: "server", call: "rename", most: 4, hasNewRepository: true },
  { program: "server", call: "send", most: 200, hasNewRepository: false },
  { program: "worker", call: "rename", most: 40, hasNewRepository: false },
  { program: "worker", call: "send", most: 120, hasNewRepository: false },
] as const;

/** Each call, once before and once after it. */
export const crashPoints = calls.flatMap((each) =>
  (["before", "after"] as const).map((side) => ({ ...each, side })),
);
type CrashPoint = (typeof crashPoints)[number];

/** Each call once, before or after it: one side for the server and the other one for the worker, as the seed decides. */
export function somePoints(seed: number): CrashPoint[] {
  const serversSide = seed % 2 === 0 ? "before" : "after";
  return crashPoints.filter(
    ({ program, side }) => (program === "server") === (side === serversSide),
  );
}

interface AfterCrashes {
  readonly violations: readonly Violation[];
  readonly crashes: number;
  readonly jobs: number;
}

const steps = 1_000_000;

/** A program that has not come to its point after this time never will. */
const mostMs = 120_000;

/**
 * Kills the server and the worker of a small farm at each of the points, one after the other, while graphs run, and
 * judges what clients saw. The seed decides at which call of its kind each process ends.
 *
 * Graphs are submitted until the process has ended at its point. Then another one without a point takes its place.
 */
export async function crashAtPoints(options: {
  readonly points: readonly CrashPoint[];
  readonly seed: number;
}): Promise<AfterCrashes> {
  // Changed below: it holds for the server that starts next.
  const env: Record<string, string> = { GRANGE_DURABLE_BLOBS: "1" };
  const farm = await startFarm({ workers: 1, env });
  const usual = await observedLoad(farm);
  const loads = [usual];
  try {
    // Not `fc.double`, which draws very small numbers most of the time.
    const shares = fc.sample(fc.integer({ min: 0, max: steps }), {
      numRuns: options.points.length,
      seed: options.seed,
    });
    for (const [n, point] of options.points.entries()) {
      const at = drawPosition(point.most, (shares[n] ?? 0) / steps);
      const load = point.hasNewRepository ? await observedLoad(farm) : usual;
      if (load !== usual) loads.push(load);
      await crashOnce(farm, load, env, point, at);
    }
    for (const load of loads) for (const { id } of load.graphs) await load.readToItsEnd(id);
    return {
      violations: loads.flatMap(({ history }) => checkHistory(history)),
      crashes: options.points.length,
      jobs: loads.flatMap(({ graphs }) => graphs).length * jobsEach,
    };
  } finally {
    await farm.stop();
    for (const load of loads) await load.remove();
  }
}

/** Returns a position from 1 to `most`. Early ones are as likely as late ones: a start has other calls than a load. */
function drawPosition(most: number, share: number): number {
  return Math.min(most, Math.floor((most + 1) ** share));
}

async function crashOnce(
  farm: Farm,
  load: ObservedLoad,
  env: Record<string, string>,
  point: CrashPoint,
  at: number,
): Promise<void> {
  const name = `${point.program}: ${point.side} ${point.call} ${at}`;
  const withPoint = {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "end-at-point.mjs")}`,
    GRANGE_TEST_CRASH: `${point.call}:${point.side}:${at}`,
  };
  const over = new AbortController();
  const loading = submitUntil(load, over.signal);
  try {
    switch (point.program) {
      case "server":
        farm.server.signal("SIGKILL");
        Object.assign(env, withPoint);
        // It may end before it is ready.
        await farm.restartServer().catch(() => {});
        for (const key of Object.keys(withPoint)) delete env[key];
        await untilKilled(farm.server, name);
        await farm.restartServer();
        break;
      case "worker": {
        for (const worker of farm.workers.splice(0)) {
          worker.signal("SIGKILL");
          await worker.finished;
        }
        const victim = farm.startWorker({ name: newName(), env: withPoint });
        await untilKilled(victim, name);
        farm.workers.splice(0);
        farm.startWorker({ name: newName() });
        break;
      }
    }
  } finally {
    over.abort();
    await loading;
  }
}

/** The farm still knows the name of the last worker for a while. */
function newName(): string {
  return `worker-${crypto.randomUUID().slice(0, 8)}`;
}

/** Throws when the program ended otherwise, or not at all. */
async function untilKilled(program: Program, name: string): Promise<void> {
  const enough = new AbortController();
  const late = delay(mostMs, "late" as const, { signal: enough.signal }).catch(
    () => "late" as const,
  );
  const ended = await Promise.race([program.finished, late]);
  enough.abort();
  if (ended === "late") throw new Error(`${name}: the program did not come to this point`);
  if (ended.code !== null)
    throw new Error(`${name}: the program ended with ${ended.code}: ${ended.stderr.slice(-2_000)}`);
}

/** Keeps one graph after the other running. A graph that is not over when it is enough is read later. */
async function submitUntil(load: ObservedLoad, enough: AbortSignal): Promise<void> {
  const isEnough = new Promise<void>((resolve) => {
    enough.addEventListener("abort", () => resolve(), { once: true });
  });
  const reading: Promise<unknown>[] = [];
  while (!enough.aborted) {
    const { id } = await load.submit();
    const read = load.readToItsEnd(id);
    reading.push(read);
    await Promise.race([read, isEnough]);
  }
  await Promise.all(reading);
}
