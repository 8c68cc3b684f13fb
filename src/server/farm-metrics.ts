import type { SealCounts } from "#actions/result-seals.ts";
import { jobStates } from "#api/job-state.ts";
import type { StoreStanding } from "#api/store.ts";
import type { MetricValue } from "#api/times.ts";
import { type BackupRow, latestBackups } from "#backup/backup.store.ts";
import type { CacheCounter } from "#caches/cache-counts.ts";
import { cachedFor } from "#core/cached-for.ts";
import type { Db } from "#db/db.ts";
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
import type { ImagePulls } from "./image-pulls.ts";
import { workersForPage } from "./list-workers.ts";

/** Each of several scrapers sends a request every few seconds; one count serves all of them. */
const countedForMs = 5_000;
/** The metric of record reads every run of its window. */
const recordForMs = 60_000;

const workerStates = ["idle", "busy", "draining", "lost"] as const;

/**
 * Returns a function that returns the families of `/metrics`. They are counted at the scrape, never when jobs start or
 * end.
 */
export function farmMetrics(parts: {
  readonly db: Db;
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
      "Jobs of graphs under way, by state.",
      jobStates.map((state) => ({ labels: { state }, value: jobs.get(state) ?? 0 })),
    ),
    gauge("grange_executions", "Executions that wait for a worker, or that one holds.", [
      { labels: { state: "queued" }, value: queue.queued },
      { labels: { state: "leased" }, value: queue.leased },
    ]),
    gauge(
      "grange_workers",
      "Workers, by state.",
      workerStates.map((state) => ({ labels: { state }, value: workersIn(state) })),
    ),
    ...scalingGauges(scaled.classes),
    gauge("grange_executions_unserved", "Executions that wait and that no size class could run.", [
      { value: scaled.unserved },
    ]),
    gauge(
      "grange_benchmark_jobs_unserved",
      "Benchmark jobs that wait while no collector in duty may take them, by target and set.",
      unserved.map(({ target, set, jobs: value }) => ({
        labels: { target, set: String(set) },
        value,
      })),
    ),
    histogram("grange_run_wait_seconds", "From ready to start; blocked time is none.", times.wait),
    histogram("grange_run_duration_seconds", "From start to end, last attempt.", times.run),
  ];
}

/** Returns the family of the metric of record, without a sample until it was measured. */
function recordFamily(measured: MetricValue | undefined): MetricFamily[] {
  return [
    gauge(
      "grange_metric_of_record",
      "What the farm is measured by: a share from 0 to 1, or a time in ms.",
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
    {
      kind: "counter",
      name: "grange_cache_requests",
      help: "What became of requests to the HTTP caches of build tools.",
      samples: cacheCounter.all().flatMap(({ project, tool, hits, misses, writes }) =>
        Object.entries({ hit: hits, miss: misses, write: writes }).map(([outcome, value]) => ({
          labels: { project, tool, outcome },
          value,
        })),
      ),
    },
    {
      kind: "counter",
      name: "grange_result_signatures",
      help: "Signatures of results: verified, known from before, refused each time they were met.",
      samples: Object.entries(seals).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    {
      kind: "counter",
      name: "grange_image_pulls",
      help: "Executions that waited until a container image was on their worker.",
      samples: [{ value: pulls.count }],
    },
    {
      kind: "counter",
      name: "grange_image_pull_seconds",
      help: "How long executions waited for container images; no part of their run.",
      samples: [{ value: pulls.ms / 1_000 }],
    },
  ];
}

/** Returns the families of this process: its delays and its memory. */
function processFamilies(late: EventLoopLag, memory: NodeJS.MemoryUsage): MetricFamily[] {
  return [
    gauge("grange_event_loop_lag_seconds", "How late this server comes to its work.", [
      { labels: { figure: "mean" }, value: late.meanSeconds },
      { labels: { figure: "p99" }, value: late.p99Seconds },
      { labels: { figure: "max" }, value: late.maxSeconds },
    ]),
    gauge("process_resident_memory_bytes", "Memory of this server.", [{ value: memory.rss }]),
    gauge("nodejs_heap_size_used_bytes", "Heap of this server that is in use.", [
      { value: memory.heapUsed },
    ]),
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
    gauge(
      "grange_store_bytes",
      "Blobs of the store, as they were last counted.",
      one(counted?.bytes),
    ),
    gauge("grange_store_limit_bytes", "How large the store may grow.", one(limitBytes)),
    gauge(
      "grange_store_over_bytes",
      "What the store has above its limit, though all went that may.",
      one(counted?.overBytes),
    ),
    {
      kind: "counter",
      name: "grange_store_evicted_bytes",
      help: "What went because the store was full.",
      samples: [{ value: evictedInAll.bytes }],
    },
    gauge(
      "grange_store_corrupt_blobs",
      "Blobs that the last check of the whole store found corrupt, and removed.",
      one(scrubbed?.corrupt),
    ),
    gauge(
      "grange_store_checked_timestamp_seconds",
      "When the last check of the whole store ended; missing when there was none.",
      one(scrubbed && Date.parse(scrubbed.at) / 1_000),
    ),
  ];
}

/** Returns the age of the last backup, as the time of its end; no sample while there was none. */
function backupFamily(last: BackupRow | undefined): MetricFamily[] {
  return [
    gauge(
      "grange_last_backup_timestamp_seconds",
      "When the last backup was completed; missing when there was none.",
      last === undefined ? [] : [{ value: last.finishedAt.getTime() / 1_000 }],
    ),
  ];
}

/**
 * Returns the gauges of each size class, also those without workers and executions: an autoscaler must see the zero.
 */
function scalingGauges(classes: readonly ScaledClass[]): MetricFamily[] {
  const each = (name: string, help: string, value: (of: ScaledClass) => number) =>
    gauge(
      name,
      help,
      classes.map((scaled) => ({
        labels: {
          platform: platformText(scaled.platform),
          size_class: String(scaled.sizeClass),
        },
        value: value(scaled),
      })),
    );
  return [
    each(
      "grange_workers_desired",
      "How many workers a size class should have.",
      (of) => of.desired,
    ),
    each("grange_workers_up", "Workers that take work.", (of) => of.now),
    each("grange_workers_draining", "Workers that end what they have.", (of) => of.draining),
    each("grange_slots_up", "Slots of workers that take work.", (of) => of.slots),
    each("grange_slots_busy", "Those of them that have something to do.", (of) => of.busySlots),
    each(
      "grange_executions_queued",
      "Executions that wait, each with the least size class that could run it.",
      (of) => of.queued,
    ),
  ];
}

function gauge(
  name: string,
  help: string,
  samples: Extract<MetricFamily, { kind: "gauge" }>["samples"],
): MetricFamily {
  return { kind: "gauge", name, help, samples };
}

function histogram(
  name: string,
  help: string,
  { counts, count, sumSeconds }: TimeHistogram,
): MetricFamily {
  const buckets = histogramBoundsSeconds.map((upTo, i) => ({ upTo, count: counts[i] ?? 0 }));
  return { kind: "histogram", name, help, buckets, count, sum: sumSeconds };
}
