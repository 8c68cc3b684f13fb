import type { SealCounts } from "#actions/result-seals.ts";
import { jobStates } from "#api/job-state.ts";
import type { StoreStanding } from "#api/store.ts";
import type { MetricValue } from "#api/times.ts";
import { type BackupRow, latestBackups } from "#backup/backup.store.ts";
import type { CacheCounter } from "#caches/cache-counts.ts";
import { cachedFor } from "#core/cached-for.ts";
import type { Db } from "#db/db.ts";
import type { ReadReplicas } from "#db/read-replicas.ts";
import { queueDepth } from "#execution/claiming/queue-depth.store.ts";
import { jobsByState } from "#graphs/times/jobs-by-state.store.ts";
import { metricDefinitions } from "#graphs/times/metric.store.ts";
import { metricValue } from "#graphs/times/metric-value.store.ts";
import {
  histogramBoundsSeconds,
  type TimeHistogram,
  timeHistograms,
} from "#graphs/times/time-histogram.store.ts";
import type { UnservedPlace } from "#perf/requests/unserved-places.ts";
import { platformText, type ScaledClass } from "#size-classes/desired-workers-look.ts";
import type { DesiredWorkersService } from "#size-classes/desired-workers-service.ts";
import type { EventLoopLag } from "./event-loop-lag.ts";
import { granaryFamilies } from "./granary-metrics.ts";
import type { MetricFamily } from "./http/metrics-text.ts";
import type { ReplicaReads } from "./http/read-from-replica.ts";
import type { ImagePulls } from "./image-pulls.ts";
import { workersForPage } from "./list-workers.ts";
import { counter, gauge, histogram } from "./metric-family.ts";
import { replicaFamilies } from "./replica-metrics.ts";

/** Each of several scrapers sends a request every few seconds; one count serves all of them. */
const countedForMs = 5_000;
/** A scrape does not wait longer for a replica. */
const replicaMs = 1_000;
/** The metric of record reads every run of its window. */
const recordForMs = 60_000;

const workerStates = ["idle", "busy", "draining", "lost"] as const;

/**
 * Returns a function that returns the families of `/metrics`. They are counted at the scrape, never when jobs start or
 * end.
 */
export function farmMetrics(parts: {
  readonly db: Db;
  readonly replicas: Pick<ReadReplicas, "look">;
  readonly replicaReads: ReplicaReads;
  readonly now: () => Date;
  readonly leaseMs: number;
  readonly lag: () => EventLoopLag;
  readonly cacheCounter: CacheCounter;
  readonly seals: SealCounts;
  readonly pulls: Pick<ImagePulls, "count" | "ms">;
  readonly store: () => Promise<StoreStanding>;
  readonly scaling: DesiredWorkersService;
  readonly unservedBenchmarks: () => Promise<UnservedPlace[]>;
}): () => Promise<MetricFamily[]> {
  const { db, now, leaseMs, lag, cacheCounter, seals, pulls, store, scaling, unservedBenchmarks } =
    parts;
  const { replicas, replicaReads } = parts;
  const ms = () => now().getTime();
  const counted = cachedFor(
    countedForMs,
    ms,
    async (): Promise<Counted> => ({
      jobs: await jobsByState(db),
      queue: await queueDepth(db),
      workers: await workersForPage(db, now(), leaseMs),
      times: await timeHistograms(db),
      scaled: await scaling.look(),
      granaries: await granaryFamilies(db, now()),
      stored: await store(),
      unserved: await unservedBenchmarks(),
      lastBackup: (await latestBackups(db, 1))[0],
    }),
  );
  let measured: MetricValue | undefined;
  const measure = cachedFor(recordForMs, ms, async () => {
    const metric = (await metricDefinitions(db)).find(({ ofRecord }) => ofRecord);
    measured = metric === undefined ? undefined : await metricValue(db, metric, now());
  });

  return async () => {
    const figures = await counted();
    // The scrape does not wait for it: it shows the value of the minute before, and the first scrape has none.
    void measure().catch(() => {});
    return [
      ...countedFamilies(figures),
      ...recordFamily(measured),
      ...serverCounters(cacheCounter, seals, pulls),
      ...figures.granaries,
      ...storeFamilies(figures.stored),
      ...backupFamily(figures.lastBackup),
      ...replicaFamilies(await replicas.look(replicaMs), replicaReads),
      ...processFamilies(lag(), process.memoryUsage()),
    ];
  };
}

/** The results of one count over the database and the store. */
interface Counted {
  readonly jobs: ReadonlyMap<string, number>;
  readonly queue: { readonly queued: number; readonly leased: number };
  readonly workers: readonly { readonly state: string }[];
  readonly times: { readonly wait: TimeHistogram; readonly run: TimeHistogram };
  readonly scaled: Awaited<ReturnType<DesiredWorkersService["look"]>>;
  readonly granaries: readonly MetricFamily[];
  readonly stored: StoreStanding;
  readonly unserved: readonly UnservedPlace[];
  readonly lastBackup: BackupRow | undefined;
}

/** Returns the families of jobs, executions and workers. */
function countedFamilies({
  jobs,
  queue,
  workers,
  times,
  scaled,
  unserved,
}: Counted): MetricFamily[] {
  const workersIn = (state: string) => workers.filter((each) => each.state === state).length;
  return [
    gauge(
      "grange_jobs",
      jobStates.map((state) => ({ labels: { state }, value: jobs.get(state) ?? 0 })),
    ),
    gauge("grange_executions", [
      { labels: { state: "queued" }, value: queue.queued },
      { labels: { state: "leased" }, value: queue.leased },
    ]),
    gauge(
      "grange_workers",
      workerStates.map((state) => ({ labels: { state }, value: workersIn(state) })),
    ),
    ...scalingGauges(scaled.classes),
    gauge("grange_executions_unserved", [{ value: scaled.unserved }]),
    gauge(
      "grange_benchmark_jobs_unserved",
      unserved.map(({ target, set, jobs: value }) => ({
        labels: { target, set: String(set) },
        value,
      })),
    ),
    histogram("grange_run_wait_seconds", bucketsOf(times.wait)),
    histogram("grange_run_duration_seconds", bucketsOf(times.run)),
  ];
}

/** Returns the family of the metric of record, without a sample until it was measured. */
function recordFamily(measured: MetricValue | undefined): MetricFamily[] {
  return [
    gauge(
      "grange_metric_of_record",
      measured === undefined
        ? []
        : [{ labels: { metric: measured.metric.name }, value: measured.value ?? Number.NaN }],
    ),
  ];
}

/** Returns what this server counted itself: requests to caches, signatures of results, and pulls of images. */
function serverCounters(
  cacheCounter: CacheCounter,
  seals: SealCounts,
  pulls: Pick<ImagePulls, "count" | "ms">,
): MetricFamily[] {
  return [
    counter(
      "grange_cache_requests",
      cacheCounter.all().flatMap(({ project, tool, hits, misses, writes }) =>
        Object.entries({ hit: hits, miss: misses, write: writes }).map(([outcome, value]) => ({
          labels: { project, tool, outcome },
          value,
        })),
      ),
    ),
    counter(
      "grange_result_signatures",
      Object.entries(seals).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counter("grange_image_pulls", [{ value: pulls.count }]),
    counter("grange_image_pull_seconds", [{ value: pulls.ms / 1_000 }]),
  ];
}

/** Returns the families of this process: its delays and its memory. */
function processFamilies(late: EventLoopLag, memory: NodeJS.MemoryUsage): MetricFamily[] {
  return [
    gauge("grange_event_loop_lag_seconds", [
      { labels: { figure: "mean" }, value: late.meanSeconds },
      { labels: { figure: "p99" }, value: late.p99Seconds },
      { labels: { figure: "max" }, value: late.maxSeconds },
    ]),
    gauge("process_resident_memory_bytes", [{ value: memory.rss }]),
    gauge("nodejs_heap_size_used_bytes", [{ value: memory.heapUsed }]),
  ];
}

/**
 * Returns the families of the store. Without a count they have no sample, because a zero would look like an empty
 * store.
 */
function storeFamilies(standing: StoreStanding): MetricFamily[] {
  const { limitBytes, counted, evictedInAll, scrubbed } = standing;
  const one = (value: number | null | undefined) =>
    value === null || value === undefined ? [] : [{ value }];
  return [
    gauge("grange_store_bytes", one(counted?.bytes)),
    gauge("grange_store_limit_bytes", one(limitBytes)),
    gauge("grange_store_over_bytes", one(counted?.overBytes)),
    counter("grange_store_evicted_bytes", [{ value: evictedInAll.bytes }]),
    gauge("grange_store_corrupt_blobs", one(scrubbed?.corrupt)),
    gauge(
      "grange_store_checked_timestamp_seconds",
      one(scrubbed && Date.parse(scrubbed.at) / 1_000),
    ),
  ];
}

/** Returns the age of the last backup, as the time of its end; no sample while there was none. */
function backupFamily(last: BackupRow | undefined): MetricFamily[] {
  return [
    gauge(
      "grange_last_backup_timestamp_seconds",
      last === undefined ? [] : [{ value: last.finishedAt.getTime() / 1_000 }],
    ),
  ];
}

/**
 * Returns the gauges of each size class, also those without workers and executions: an autoscaler must see the zero.
 */
function scalingGauges(classes: readonly ScaledClass[]): MetricFamily[] {
  const each = (value: (of: ScaledClass) => number) =>
    classes.map((scaled) => ({
      labels: { platform: platformText(scaled.platform), size_class: String(scaled.sizeClass) },
      value: value(scaled),
    }));
  return [
    gauge(
      "grange_workers_desired",
      each((of) => of.desired),
    ),
    gauge(
      "grange_workers_up",
      each((of) => of.now),
    ),
    gauge(
      "grange_workers_draining",
      each((of) => of.draining),
    ),
    gauge(
      "grange_slots_up",
      each((of) => of.slots),
    ),
    gauge(
      "grange_slots_busy",
      each((of) => of.busySlots),
    ),
    gauge(
      "grange_executions_queued",
      each((of) => of.queued),
    ),
  ];
}

function bucketsOf({ counts, count, sumSeconds }: TimeHistogram) {
  const buckets = histogramBoundsSeconds.map((upTo, i) => ({ upTo, count: counts[i] ?? 0 }));
  return { buckets, count, sum: sumSeconds };
}
