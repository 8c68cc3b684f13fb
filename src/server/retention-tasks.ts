import type { Logger } from "pino";
import { deleteOldAudit } from "#access/audit.store.ts";
import { dayOf } from "#access/blob-writes/write-quota.ts";
import { forgetWritten } from "#access/blob-writes/written-bytes.store.ts";
import { forgetSubjectsOf } from "#access/provenance/subject.store.ts";
import type { RetentionKind } from "#api/retention.ts";
import { forgetUnusedEntries } from "#caches/cache-entry.store.ts";
import { forgetCacheUse } from "#caches/cache-use.store.ts";
import { forgetUnusedChunkLists } from "#caches/chunk-lists/chunk-list.store.ts";
import type { UploadStore } from "#cas/upload-store.ts";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { forgetWorkers } from "#execution/leasing/worker.store.ts";
import { deleteOldExecutions } from "#execution/retention.store.ts";
import { forgetDurations } from "#execution/sizing/expected-duration.store.ts";
import { deleteOldGranaryBuilds, deleteUnusedIndexes } from "#granaries/delete-unused.ts";
import { forgetApproximations } from "#graphs/approximations/approximation.store.ts";
import { isProtectedBranch } from "#graphs/catalogs/is-protected-branch.ts";
import { removeOldDefinitions } from "#graphs/retention/remove-old-definitions.ts";
import { type RetentionRound, removeOldGraphs } from "#graphs/retention/remove-old-graphs.ts";
import { deleteOldBuilds } from "#invocations/build-events/build.store.ts";
import { deleteOldInvocations } from "#invocations/invocation.store.ts";
import { deleteOldAlarms } from "#perf/alarms/lab-alarm.store.ts";
import { forgetGraphsOfSearches, graphsOfRunningSearches } from "#searches/forget-graphs.store.ts";
import { forgetOldSignIns } from "#sign-in/forget-old.ts";
import { deleteOldHistories } from "#size-classes/key-history.store.ts";
import type { PeriodicTask } from "./periodic-tasks.ts";
import { retentionAgeMs } from "./retention/retention-age.store.ts";

const dayMs = 24 * 60 * 60 * 1_000;
/** Longer than the longest usual holiday. */
const keepDurationsMs = 90 * dayMs;
const keepAlarmsMs = 30 * dayMs;
const keepSilentWorkersMs = dayMs;
/** A branch without a build for a month is built from scratch. */
const keepCacheEntriesMs = 30 * dayMs;
const keepCommitIndexesMs = 30 * dayMs;
/** How long the page of savings looks back, in ms. */
const keepGranaryBuildsMs = 90 * dayMs;
/** How long the page of the cache looks back, in ms. */
const keepCacheUseMs = 90 * dayMs;

/**
 * The time limit of one round over graphs, out of ten minutes: the next round continues where this one ended. A
 * stopping server waits for the round, and on a farm with many kept graphs a full pass takes several rounds.
 */
const mostOfGraphsMs = 5_000;

/** The tasks that remove old data. */
export function retentionTasks(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly uploads: Pick<UploadStore, "sweep">;
}): PeriodicTask[] {
  const { db, clock, logger, uploads } = parts;
  let lookedUpTo: RetentionRound["after"];
  const ago = (ms: number) => new Date(clock.now().getTime() - ms);
  /** Deletes a limited number at a time, so that transactions stay short. */
  const deleteAged = async (kind: RetentionKind, deleteSome: (before: Date) => Promise<number>) => {
    const keepMs = await retentionAgeMs(db, kind);
    if (keepMs === null) return;
    const before = ago(keepMs);
    while ((await deleteSome(before)) > 0);
  };
  return [
    {
      name: "delete old alarms of the benchmark lab",
      everyMs: 60 * 60_000,
      run: () => deleteOldAlarms(db, ago(keepAlarmsMs)),
    },
    {
      name: "delete durations of unused jobs",
      everyMs: 60 * 60_000,
      run: () => forgetDurations(db, ago(keepDurationsMs)),
    },
    {
      name: "delete size-class statistics of unused actions",
      everyMs: 60 * 60_000,
      run: () => deleteOldHistories(db, ago(keepDurationsMs)),
    },
    {
      name: "delete old workers",
      everyMs: 10 * 60_000,
      run: () => forgetWorkers(db, ago(keepSilentWorkersMs)),
    },
    {
      name: "delete unused cache entries",
      everyMs: 10 * 60_000,
      async run() {
        while ((await forgetUnusedEntries(db, ago(keepCacheEntriesMs))) > 0);
        while ((await forgetUnusedChunkLists(db, ago(keepCacheEntriesMs))) > 0);
      },
    },
    {
      name: "delete old hit counts of caches",
      everyMs: 60 * 60_000,
      run: () => forgetCacheUse(db, ago(keepCacheUseMs)),
    },
    {
      name: "delete approximations of unused actions",
      everyMs: 10 * 60_000,
      async run() {
        while ((await forgetApproximations(db, ago(keepDurationsMs))) > 0);
      },
    },
    {
      name: "delete unused commit indexes",
      everyMs: 10 * 60_000,
      run: () =>
        deleteUnusedIndexes(db, ago(keepCommitIndexesMs), (repository, branch) =>
          isProtectedBranch(db, repository, branch),
        ),
    },
    {
      name: "delete old reports of granaries",
      everyMs: 10 * 60_000,
      run: () => deleteOldGranaryBuilds(db, ago(keepGranaryBuildsMs)),
    },
    {
      name: "delete old sessions",
      everyMs: 10 * 60_000,
      run: () => forgetOldSignIns(db, clock.now()),
    },
    {
      name: "delete old counts of written bytes",
      everyMs: 60 * 60_000,
      // Another server's clock may still show the previous day.
      run: () => forgetWritten(db, dayOf(ago(dayMs))),
    },
    {
      name: "delete abandoned uploads",
      everyMs: 5 * 60_000,
      run: () => uploads.sweep(),
    },
    {
      name: "delete old invocations",
      everyMs: 10 * 60_000,
      run: () => deleteAged("invocations", (before) => deleteOldInvocations(db, before)),
    },
    {
      name: "delete old build events",
      everyMs: 10 * 60_000,
      run: () => deleteAged("invocations", (before) => deleteOldBuilds(db, before)),
    },
    {
      name: "delete old executions",
      everyMs: 10 * 60_000,
      run: () => deleteAged("executions", (before) => deleteOldExecutions(db, before)),
    },
    {
      name: "delete old entries of the audit log",
      everyMs: 60 * 60_000,
      run: () => deleteAged("audit", (before) => deleteOldAudit(db, before)),
    },
    {
      name: "delete old definitions",
      everyMs: 60 * 60_000,
      async run() {
        const keepMs = await retentionAgeMs(db, "definitions");
        if (keepMs === null) return;
        const { catalogs, definitions } = await removeOldDefinitions(db, ago(keepMs));
        if (catalogs + definitions > 0)
          logger.info({ catalogs, definitions }, "old definitions were deleted");
      },
    },
    {
      name: "delete old graphs",
      everyMs: 10 * 60_000,
      async run() {
        const goOn = { after: lookedUpTo, mostMs: mostOfGraphsMs };
        const { removed, after } = await removeOldGraphs(
          {
            db,
            clock,
            neededElsewhere: graphsOfRunningSearches,
            async forgetElsewhere(tx, graphs) {
              await forgetSubjectsOf(tx, graphs);
              await forgetGraphsOfSearches(tx, graphs);
            },
          },
          goOn,
        );
        lookedUpTo = after;
        if (removed > 0) logger.info({ removed }, "old graphs were deleted");
      },
    },
  ];
}
