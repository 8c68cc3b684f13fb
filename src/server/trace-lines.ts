import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { type WorkersUp, workersUp } from "#execution/sizing/size-class-offers.store.ts";
import { type TracedExecution, tracedExecutions } from "#execution/sizing/trace.store.ts";
import { measuredWork } from "#simulate/measured-work.ts";
import {
  type Pool,
  type TraceClass,
  type TraceExecution,
  type TraceHeader,
  type TraceKeys,
  traceFormat,
} from "#simulate/trace.ts";
import { standardHeader } from "#simulate/traces/standard-header.ts";
import { type DeclaredClass, declaredClasses } from "#size-classes/declared-classes.store.ts";
import { defaultStartDelayMs } from "#size-classes/offered-classes.ts";
import { offeredClassesView } from "#size-classes/offered-classes-view.ts";
import type { Services } from "./services.ts";

/** For workers that start and stop on demand; a user with better data writes it into the trace's first line. */
function elastic(most: number): Pool {
  return {
    kind: "elastic",
    most: Math.min(Math.max(1, most), mostWorkers),
    startDelayMs: defaultStartDelayMs,
    idleMs: 300_000,
  };
}
const mostWorkers = 10_000;

/** Returns the pool of a class: declared workers start and stop, the others exist for the whole time. */
function poolOf(
  sizeClass: number,
  up: readonly WorkersUp[],
  declared: readonly DeclaredClass[],
): Pool {
  const ofClass = declared.filter((each) => each.sizeClass === sizeClass);
  if (ofClass.length > 0) {
    const most = ofClass.map((each) => (each.mostWorkers ?? 1_000) * each.slotsPerWorker);
    return elastic(most.reduce((sum, each) => sum + each, 0));
  }
  const slots = up.reduce((sum, each) => sum + (each.sizeClass === sizeClass ? each.slots : 0), 0);
  return slots === 0 ? elastic(1_000) : { kind: "fixed", workers: Math.min(slots, mostWorkers) };
}

/**
 * Yields the executions from `backMs` ago until now, as JSON lines of docs/size-class-traces.md, some hundreds at a
 * time.
 */
export async function* traceLines(
  { db, clock, queue }: Pick<Services, "db" | "clock" | "queue">,
  backMs: number,
): AsyncGenerator<string, void, undefined> {
  const since = new Date(clock.now().getTime() - backMs);
  const header = await headerNow(db, clock, queue.times.leaseMs);
  yield `${JSON.stringify(header)}\n`;
  for await (const page of tracedExecutions(db, since)) {
    const lines = page.flatMap((each) => {
      const execution = executionOf(each, since, header.classes);
      return execution === undefined ? [] : [`${JSON.stringify(execution)}\n`];
    });
    if (lines.length > 0) yield lines.join("");
  }
}

async function headerNow(db: Db, clock: Clock, leaseMs: number): Promise<TraceHeader> {
  const now = clock.now();
  const up = await workersUp(db, now, new Date(now.getTime() - leaseMs));
  const declared = await declaredClasses(db);
  const offered = offeredClassesView({ up, declared, queued: [] }, defaultStartDelayMs)({});
  // Without workers and declarations it uses the seed's classes, which are as good as any for a simulation.
  if (offered.length === 0) return standardHeader("exported", { calendarRate: 1 }, elastic(1_000));
  return {
    format: traceFormat,
    name: "exported",
    classes: offered.map(({ sizeClass, cpus, memoryBytes, price }) => ({
      sizeClass,
      cpus: Math.min(cpus, 1_000_000),
      memoryBytes: Math.min(memoryBytes, 2 ** 53),
      price,
      pool: poolOf(sizeClass, up, declared),
    })),
    order: "longest-first",
    calendarRate: 1,
    lostRate: 0,
    infrastructureRate: 0,
    hiddenOutOfMemoryRate: 0,
  };
}

function executionOf(
  { queuedAt, project, similarityKeys, timeoutMs, attempts }: TracedExecution,
  since: Date,
  classes: readonly TraceClass[],
): TraceExecution | undefined {
  const keys = keysOf(project, similarityKeys);
  if (keys === undefined) return undefined;
  return measuredWork(queuedAt.getTime() - since.getTime(), keys, timeoutMs, attempts, classes);
}

/**
 * Returns the keys of an execution. Executions of two projects are not similar. Old similarity keys without a level are
 * read by position.
 */
function keysOf(project: string, similarityKeys: readonly string[]): TraceKeys | undefined {
  const named = (letter: string) => {
    const found = similarityKeys.find((each) => each.startsWith(`${letter}.`));
    return found === undefined ? undefined : `${project} ${found}`.slice(-1_000);
  };
  const action = named("a") ?? similarityKeys[0];
  if (action === undefined) return undefined;
  const [target, mnemonic, platform] = [named("t"), named("m"), named("p")];
  return {
    action,
    ...(target !== undefined && { target }),
    ...(mnemonic !== undefined && { mnemonic }),
    ...(platform !== undefined && { platform }),
  };
}
