import type { Logger } from "pino";
import { dayOf } from "#access/blob-writes/write-quota.ts";
import { forgetWritten } from "#access/blob-writes/written-bytes.store.ts";
import { forgetUnusedEntries } from "#caches/cache-entry.store.ts";
import type { Uploads } from "#cas/uploads.ts";
import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { countDurations, forgetDurations } from "#execution/expected-duration.store.ts";
import { relaxSizes, staleBackgroundRuns } from "#execution/relax-sizes.store.ts";
import { deleteOldExecutions } from "#execution/retention.store.ts";
import { spillToIdleClass } from "#execution/size-class-spillover.store.ts";
import { forgetWorkers } from "#execution/worker.store.ts";
import { forgetOldBuilds, forgetUnusedIndexes } from "#granaries/forget-unused.ts";
import { forgetApproximations } from "#graphs/approximations/approximation.store.ts";
import { passCancellationsOn } from "#graphs/cancel-graph.ts";
import type { CatalogServices } from "#graphs/catalogs/graph-definitions.ts";
import { isProtectedBranch } from "#graphs/catalogs/is-protected-branch.ts";
import { watchDefinitions, watchEveryMs } from "#graphs/catalogs/watch-definitions.ts";
import { expireJobs } from "#graphs/expiry/expire-jobs.ts";
import { coalesceJobs } from "#graphs/ranges/coalesce-jobs.ts";
import { rollUpGraphs } from "#graphs/times/graph-times.store.ts";
import { rollUpRuns } from "#graphs/times/run-history.store.ts";
import { deleteOldBuilds } from "#invocations/build-events/build.store.ts";
import { endUnserved } from "#invocations/end-unserved.ts";
import { deleteOldInvocations } from "#invocations/invocation.store.ts";
import type { OperationService } from "#invocations/operation-service.ts";
import { deleteOldAlarms } from "#perf/alarms/lab-alarm.store.ts";
import { alarmSender, type SendAlarm } from "#perf/alarms/send-alarms.ts";
import { examineNext } from "#perf/history/examine-artifact.ts";
import { silenceWatch } from "#perf/jobs/silence-watch.ts";
import type { LabTimes } from "#perf/lab-times.ts";
import { forgetOldSignIns } from "#sign-in/forget-old.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import { forgetHistories } from "#size-classes/key-history.store.ts";

const dayMs = 24 * 60 * 60 * 1_000;
/** Runs keep what people ask for; executions are what the queue needed. */
const keepExecutionsMs = 7 * dayMs;
/** Longer than a holiday. */
const keepDurationsMs = 90 * dayMs;
/** What was built lately, and what became of it. */
const keepInvocationsMs = 30 * dayMs;
const keepAlarmsMs = 30 * dayMs;
const keepSilentWorkersMs = dayMs;
/** A worker that is started anew is back by then; far less than what nobody can serve is kept waiting. */
const chosenClassAwayMs = 2 * 60_000;
const keepBackgroundRunsMs = dayMs;
/** A branch that nobody has built for a month is built anew. */
const keepCacheEntriesMs = 30 * dayMs;
const keepCommitIndexesMs = 30 * dayMs;
/** What the page of savings looks back on. */
const keepGranaryBuildsMs = 90 * dayMs;

interface Task {
  readonly name: string;
  readonly everyMs: number;
  /** Not put off while the farm is idle: it watches others, not work. */
  readonly staysOnTime?: true;
  run(): Promise<unknown>;
}

/** Does what nobody waits for, now and then. Any number of servers may do it at once. */
export function startHousekeeping(services: {
  readonly db: Db;
  readonly queue: ExecutionQueue;
  readonly operations: OperationService;
  readonly uploads: Pick<Uploads, "sweep">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly labTimes: LabTimes;
  /** Undefined: nobody outside is to hear of alarms. */
  readonly sendAlarm?: SendAlarm | undefined;
  /** How long a client waits for a worker that does not exist. */
  readonly unservedMs: number;
  readonly idle: IdleState;
  readonly definitions: CatalogServices;
}): Service {
  const { db, queue, operations, uploads, clock, logger, labTimes, unservedMs, idle, definitions } =
    services;
  const openSince = clock.now();
  const ago = (ms: number) => new Date(clock.now().getTime() - ms);
  const tasks: readonly Task[] = [
    {
      // A server may have died between storing a wish to cancel and passing it on.
      name: "pass cancellations on",
      everyMs: 5_000,
      run: () => passCancellationsOn(db, queue),
    },
    {
      name: "cancel what clients have left",
      everyMs: 5_000,
      async run() {
        while ((await operations.sweep()) > 0);
      },
    },
    {
      name: "end what no worker could ever serve",
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
      name: "free what waits for a size class that went away",
      everyMs: 10_000,
      async run() {
        // After a time without servers, workers have the whole time to come back.
        const seenSince = ago(chosenClassAwayMs);
        if (openSince > seenSince) return;
        const declared = await declaredOffers(db);
        while ((await queue.transaction((tx) => relaxSizes(tx, seenSince, declared))) > 0);
      },
    },
    {
      name: "let idle workers have what waits for a greater size class longer than was foreseen",
      everyMs: 2_000,
      run: () =>
        queue.transaction((tx) => spillToIdleClass(tx, clock.now(), ago(queue.times.leaseMs))),
    },
    {
      name: "end runs that were only to teach, and that nobody had time for",
      everyMs: 10 * 60_000,
      run: () =>
        queue.transaction(async (tx) =>
          queue.cancel(tx, await staleBackgroundRuns(tx, ago(keepBackgroundRunsMs))),
        ),
    },
    {
      name: "take benchmark jobs from collectors that went silent",
      everyMs: labTimes.pollMs,
      staysOnTime: true,
      run: silenceWatch({ db, clock, logger, times: labTimes }),
    },
    ...(services.sendAlarm === undefined
      ? []
      : [
          {
            name: "send alarms of the benchmark lab",
            everyMs: 5_000,
            staysOnTime: true as const,
            run: alarmSender({ db, clock, logger, send: services.sendAlarm }),
          },
        ]),
    {
      name: "forget alarms of the benchmark lab",
      everyMs: 60 * 60_000,
      run: () => deleteOldAlarms(db, ago(keepAlarmsMs)),
    },
    {
      name: "look for steps in series of benchmarks that have new results",
      everyMs: 5_000,
      async run() {
        while (await examineNext(db, clock.now()));
      },
    },
    {
      name: "end the waiting of jobs that waited too long",
      everyMs: 1_000,
      async run() {
        while ((await expireJobs(db, queue, clock.now())) > 0);
      },
    },
    {
      name: "look for new definitions where branches have theirs",
      everyMs: watchEveryMs,
      staysOnTime: true,
      run: () => watchDefinitions(definitions, clock.now()),
    },
    {
      name: "let newer jobs answer for older ones that wait",
      everyMs: 1_000,
      run: () => coalesceJobs(db, queue, clock.now()),
    },
    {
      name: "count what runs and graphs took",
      everyMs: 3_000,
      async run() {
        while (await rollUpRuns(db, clock.now()));
        while (await rollUpGraphs(db, clock.now()));
      },
    },
    {
      name: "count how long executions took",
      everyMs: 3_000,
      async run() {
        while (await countDurations(db, clock.now()));
      },
    },
    {
      name: "forget how long what nobody runs any more took",
      everyMs: 60 * 60_000,
      run: () => forgetDurations(db, ago(keepDurationsMs)),
    },
    {
      name: "forget how what nobody runs any more does on size classes",
      everyMs: 60 * 60_000,
      run: () => forgetHistories(db, ago(keepDurationsMs)),
    },
    {
      name: "forget workers that are long gone",
      everyMs: 10 * 60_000,
      run: () => forgetWorkers(db, ago(keepSilentWorkersMs)),
    },
    {
      name: "forget entries of caches that nobody uses",
      everyMs: 10 * 60_000,
      async run() {
        while ((await forgetUnusedEntries(db, ago(keepCacheEntriesMs))) > 0);
      },
    },
    {
      name: "forget what was known of actions ahead that nobody runs any more",
      everyMs: 10 * 60_000,
      async run() {
        while ((await forgetApproximations(db, ago(keepDurationsMs))) > 0);
      },
    },
    {
      name: "forget commit indexes that nobody uses",
      everyMs: 10 * 60_000,
      run: () =>
        forgetUnusedIndexes(db, ago(keepCommitIndexesMs), (repository, branch) =>
          isProtectedBranch(db, repository, branch),
        ),
    },
    {
      name: "forget what granaries told of builds long ago",
      everyMs: 10 * 60_000,
      run: () => forgetOldBuilds(db, ago(keepGranaryBuildsMs)),
    },
    {
      name: "forget who was signed in",
      everyMs: 10 * 60_000,
      run: () => forgetOldSignIns(db, clock.now()),
    },
    {
      name: "forget how much was written on other days",
      everyMs: 60 * 60_000,
      // Another server's clock may be behind midnight.
      run: () => forgetWritten(db, dayOf(ago(dayMs))),
    },
    {
      name: "give up uploads that nobody goes on with",
      everyMs: 5 * 60_000,
      run: () => uploads.sweep(),
    },
    {
      name: "delete old invocations",
      everyMs: 10 * 60_000,
      async run() {
        while ((await deleteOldInvocations(db, ago(keepInvocationsMs))) > 0);
      },
    },
    {
      name: "delete what build tools told long ago",
      everyMs: 10 * 60_000,
      async run() {
        while ((await deleteOldBuilds(db, ago(keepInvocationsMs))) > 0);
      },
    },
    {
      name: "delete old executions",
      everyMs: 10 * 60_000,
      async run() {
        while ((await deleteOldExecutions(db, ago(keepExecutionsMs))) > 0);
      },
    },
  ];

  const inHand = new Set<Promise<void>>();
  const endTimers = tasks.map((task) => {
    let busy = false;
    const once = async () => {
      try {
        await task.run();
      } catch (reason) {
        logger.warn(
          { err: reason, task: task.name },
          "a periodic task failed; it runs again at its next time",
        );
      } finally {
        busy = false;
      }
    };
    return startPacedTimer(task.everyMs, task.staysOnTime === true ? undefined : idle, () => {
      if (busy) return;
      busy = true;
      const work = once();
      inHand.add(work);
      void work.then(() => inHand.delete(work));
    });
  });

  return {
    async stop() {
      for (const end of endTimers) end();
      await Promise.all(inHand);
    },
  };
}
