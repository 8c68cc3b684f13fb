/** What one metric of `/metrics` measures. */
interface MetricFact {
  readonly kind: "counter" | "gauge" | "histogram";
  /** One sentence; scrapers get it as HELP. */
  readonly help: string;
  /** The meaning of each label. */
  readonly labels: Readonly<Record<string, string>>;
}

const state = "the state";
const project = "the project";
const ofClass = { platform: "the platform of the workers", size_class: "the size class" };

/**
 * All metrics of `/metrics`, in the order of the answer. `npm run docs` writes them into docs/metrics.md.
 *
 * The name of a counter is without `_total`, which its samples have. Units are seconds and bytes.
 */
export const metricTable = {
  grange_jobs: {
    kind: "gauge",
    help: "Jobs of graphs that have not ended, by state.",
    labels: { state },
  },
  grange_executions: {
    kind: "gauge",
    help: "Executions that wait for a worker or run on one.",
    labels: { state: "`queued` or `leased`" },
  },
  grange_workers: {
    kind: "gauge",
    help: "Workers, by state.",
    labels: { state: "`idle`, `busy`, `draining` or `lost`" },
  },
  grange_workers_desired: {
    kind: "gauge",
    help: "The number of workers that a size class should have.",
    labels: ofClass,
  },
  grange_workers_up: {
    kind: "gauge",
    help: "Workers that accept work.",
    labels: ofClass,
  },
  grange_workers_draining: {
    kind: "gauge",
    help: "Workers that finish their work and accept no more.",
    labels: ofClass,
  },
  grange_slots_up: {
    kind: "gauge",
    help: "Slots of workers that accept work.",
    labels: ofClass,
  },
  grange_slots_busy: {
    kind: "gauge",
    help: "Slots of workers that accept work, and that execute something.",
    labels: ofClass,
  },
  grange_executions_queued: {
    kind: "gauge",
    help: "Executions that wait, each counted in the smallest size class that can run it.",
    labels: ofClass,
  },
  grange_executions_unserved: {
    kind: "gauge",
    help: "Executions that wait and that no size class can run.",
    labels: {},
  },
  grange_benchmark_jobs_unserved: {
    kind: "gauge",
    help: "Benchmark jobs that wait and that no active collector may take.",
    labels: { target: "the target of the suite", set: "the number of the set" },
  },
  grange_run_wait_seconds: {
    kind: "histogram",
    help: "How long runs waited, from ready to start. Time in which a job is blocked does not count.",
    labels: {},
  },
  grange_run_duration_seconds: {
    kind: "histogram",
    help: "How long runs took, from the start to the end of the last attempt.",
    labels: {},
  },
  grange_metric_of_record: {
    kind: "gauge",
    help: "The value of the metric of record: a share from 0 to 1, or a time in ms.",
    labels: { metric: "the name of the metric" },
  },
  grange_cache_requests: {
    kind: "counter",
    help: "Requests to the HTTP caches of build tools.",
    labels: { project, tool: "the build tool", outcome: "`hit`, `miss` or `write`" },
  },
  grange_result_signatures: {
    kind: "counter",
    help: "Checks of signatures of results.",
    labels: { outcome: "`verified`, `remembered` (verified before) or `refused`" },
  },
  grange_image_pulls: {
    kind: "counter",
    help: "Executions that waited until a container image was on their worker.",
    labels: {},
  },
  grange_image_pull_seconds: {
    kind: "counter",
    help: "How long executions waited for container images. This time is no part of their run.",
    labels: {},
  },
  grange_granary_results: {
    kind: "gauge",
    help: "Results that builds with a granary requested within 24 hours.",
    labels: { project, source: "where the result came from" },
  },
  grange_granary_saved_seconds: {
    kind: "gauge",
    help: "The time that it took to make these results, as far as it is known.",
    labels: { project },
  },
  grange_granary_fetched_ahead_bytes: {
    kind: "gauge",
    help: "Bytes that granaries prefetched within 24 hours.",
    labels: { project },
  },
  grange_granary_lead_seconds: {
    kind: "gauge",
    help: "How long before the request a prefetched result arrived: the median of the medians of builds.",
    labels: { project },
  },
  grange_granary_wasted_bytes: {
    kind: "gauge",
    help: "Prefetched bytes that no build requested.",
    labels: { project },
  },
  grange_quarantined_results: {
    kind: "gauge",
    help: "Results that differed when they were made again. The farm does not serve them.",
    labels: { project },
  },
  grange_store_bytes: {
    kind: "gauge",
    help: "The size of the blob store when it was last counted.",
    labels: {},
  },
  grange_store_limit_bytes: {
    kind: "gauge",
    help: "The limit of the blob store.",
    labels: {},
  },
  grange_store_over_bytes: {
    kind: "gauge",
    help: "Bytes above the limit after everything was removed that may be removed.",
    labels: {},
  },
  grange_store_evicted_bytes: {
    kind: "counter",
    help: "Bytes that were removed because the blob store was full.",
    labels: {},
  },
  grange_store_corrupt_blobs: {
    kind: "gauge",
    help: "Corrupt blobs that the last check of the whole store found and removed.",
    labels: {},
  },
  grange_store_checked_timestamp_seconds: {
    kind: "gauge",
    help: "When the last check of the whole store ended. It has no sample before the first check.",
    labels: {},
  },
  grange_last_backup_timestamp_seconds: {
    kind: "gauge",
    help: "When the last backup was completed. It has no sample before the first backup.",
    labels: {},
  },
  grange_replica_usable: {
    kind: "gauge",
    help: "Whether this server can read from a replica of the database: 1 or 0.",
    labels: { replica: "host and port" },
  },
  grange_replica_behind_seconds: {
    kind: "gauge",
    help: "How far a replica was behind the primary at this server's last check. No sample after more than a minute.",
    labels: { replica: "host and port" },
  },
  grange_replica_reads: {
    kind: "counter",
    help: "Answers of this server that clients accepted from a replica.",
    labels: {
      from: "`replica`; `primary`, because no replica was recent enough; `repeated`, because the replica failed or had no such object",
    },
  },
  grange_event_loop_lag_seconds: {
    kind: "gauge",
    help: "How late this server ran its timers in the last complete span of at least 10 s.",
    labels: { figure: "`mean`, `p99` or `max`" },
  },
  process_resident_memory_bytes: {
    kind: "gauge",
    help: "The resident memory of this server.",
    labels: {},
  },
  nodejs_heap_size_used_bytes: {
    kind: "gauge",
    help: "The used part of the JavaScript heap of this server.",
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricFact>>;

type MetricTable = typeof metricTable;
export type MetricName = keyof MetricTable;
export type NameOfKind<Kind extends MetricFact["kind"]> = {
  [Name in MetricName]: MetricTable[Name]["kind"] extends Kind ? Name : never;
}[MetricName];

/** The labels of a metric's samples. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<keyof MetricTable[Name]["labels"], string>
>;

/** Returns the table of docs/metrics.md, in Markdown. */
export function metricsReference(): string {
  return [
    "| metric | type | labels | measures |",
    "|---|---|---|---|",
    ...Object.entries<MetricFact>(metricTable).map(([name, { kind, help, labels }]) => {
      const sampled = kind === "counter" ? `${name}_total` : name;
      const meanings = Object.entries(labels).map(([label, means]) => `\`${label}\`: ${means}`);
      return `| \`${sampled}\` | ${kind} | ${meanings.join("; ") || "–"} | ${help} |`;
    }),
  ].join("\n");
}
