import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { restartedWithinMs } from "#execution/queue-times.ts";
import { countDurations } from "#execution/sizing/expected-duration.store.ts";
import { spillToIdleClass } from "#execution/sizing/size-class-spillover.store.ts";
import {
  dropChosenSizes,
  staleBackgroundRuns,
} from "#execution/submitting/drop-chosen-sizes.store.ts";
import { passCancellationsOn } from "#graphs/cancel-graph.ts";
import type { CatalogServices } from "#graphs/catalogs/graph-definitions.ts";
import { watchDefinitions, watchEveryMs } from "#graphs/catalogs/watch-definitions.ts";
import { coalesceJobs } from "#graphs/coalescing/coalesce-jobs.ts";
import { expireJobs } from "#graphs/expiry/expire-jobs.ts";
import { rollUpGraphs } from "#graphs/times/graph-times.store.ts";
import { rollUpRuns } from "#graphs/times/run-history.store.ts";
import { endUnserved } from "#invocations/end-unserved.ts";
import type { OperationService } from "#invocations/operation-service.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import type { PeriodicTask } from "./periodic-tasks.ts";

const keepBackgroundRunsMs = 24 * 60 * 60 * 1_000;

/** Handles jobs and executions that wait: for a worker, for a time, or for another job's result. */
export function queueTasks(parts: {
  readonly db: Db;
  readonly queue: ExecutionQueue;
  readonly operations: OperationService;
  readonly clock: Clock;
  /** How long a client waits when no worker exists for its action. */
  readonly unservedMs: number;
  readonly definitions: CatalogServices;
}): PeriodicTask[] {
  const { db, queue, operations, clock, unservedMs, definitions } = parts;
  const openSince = clock.now();
  const ago = (ms: number) => new Date(clock.now().getTime() - ms);
  return [
    {
      // A server may have crashed after it stored a request to cancel and before it sent the request on.
      name: "send cancellations to workers",
      everyMs: 5_000,
      run: () => passCancellationsOn(db, queue),
    },
    {
      name: "cancel executions that no client waits for",
      everyMs: 5_000,
      async run() {
        while ((await operations.sweep()) > 0);
      },
    },
    {
      name: "end executions that no worker can serve",
      everyMs: Math.min(30_000, Math.max(1_000, unservedMs / 2)),
      run: async () =>
        endUnserved(db, queue, {
          now: clock.now(),
          openSince,
          unservedMs,
          declared: await declaredOffers(db),
        }),
    },
    {
      name: "release executions that wait for a removed size class",
      everyMs: 10_000,
      async run() {
        // After a time without servers, workers get the full time again to reconnect.
        const seenSince = ago(restartedWithinMs);
        if (openSince > seenSince) return;
        const declared = await declaredOffers(db);
        while ((await queue.transaction((tx) => dropChosenSizes(tx, seenSince, declared))) > 0);
      },
    },
    {
      name: "let idle workers take executions that wait too long for a greater size class",
      everyMs: 2_000,
      run: () =>
        queue.transaction((tx) => spillToIdleClass(tx, clock.now(), ago(queue.times.leaseMs))),
    },
    {
      name: "end background runs that got no worker",
      everyMs: 10 * 60_000,
      run: () =>
        queue.transaction(async (tx) =>
          queue.cancel(tx, await staleBackgroundRuns(tx, ago(keepBackgroundRunsMs))),
        ),
    },
    {
      name: "end jobs that waited longer than their ttl",
      everyMs: 1_000,
      async run() {
        while ((await expireJobs(db, queue, clock.now())) > 0);
      },
    },
    {
      name: "read new definitions of branches",
      everyMs: watchEveryMs,
      staysOnTime: true,
      run: () => watchDefinitions(definitions, clock.now()),
    },
    {
      name: "coalesce waiting jobs with newer ones",
      everyMs: 1_000,
      run: () => coalesceJobs(db, queue, clock.now()),
    },
    {
      name: "count durations of runs and graphs",
      everyMs: 3_000,
      async run() {
        while (await rollUpRuns(db, clock.now()));
        while (await rollUpGraphs(db, clock.now()));
      },
    },
    {
      name: "count durations of executions",
      everyMs: 3_000,
      async run() {
        while (await countDurations(db, clock.now()));
      },
    },
  ];
}
