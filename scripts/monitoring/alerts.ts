import { stringify } from "yaml";

interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must be true. */
  readonly for: string;
  readonly severity: "page" | "ticket";
  readonly summary: string;
  /** What to do. */
  readonly action: string;
}

/** The alerts of a farm. Each names a remedy: an alert without one is no alert. */
export const alerts: readonly Alert[] = [
  {
    alert: "GrangeServerDown",
    expr: 'up{job="grange"} == 0',
    for: "2m",
    severity: "page",
    summary: "The server {{ $labels.instance }} does not answer.",
    action: "Read its log. `GET /readyz` says which check fails.",
  },
  {
    alert: "GrangeWorkersLost",
    expr: 'max(grange_workers{state="lost"}) > 0',
    for: "15m",
    severity: "ticket",
    summary: "{{ $value }} workers stopped answering.",
    action: "`grange workers` names them. Start them again, or drain them.",
  },
  {
    alert: "GrangeNoWorkerForQueue",
    expr: "max(grange_executions_unserved) > 0",
    for: "10m",
    severity: "ticket",
    summary: "{{ $value }} executions wait, and no size class can run them.",
    action: "`grange why` names the missing property. Start such a worker, or declare its class.",
  },
  {
    alert: "GrangeTooFewWorkers",
    expr: "max by (platform, size_class) (grange_workers_desired) > max by (platform, size_class) (grange_workers_up)",
    for: "15m",
    severity: "ticket",
    summary: "Size class {{ $labels.size_class }} of {{ $labels.platform }} has too few workers.",
    action: "Check the autoscaler, and the capacity of the cloud or the cluster.",
  },
  {
    alert: "GrangeLongWait",
    expr: "histogram_quantile(0.95, max by (le) (rate(grange_run_wait_seconds_bucket[15m]))) > 600",
    for: "15m",
    severity: "ticket",
    summary: "One in twenty jobs waits longer than ten minutes for a worker.",
    action: "Add workers: `grange autoscaling` says how many of each size.",
  },
  {
    alert: "GrangeStoreOverLimit",
    expr: "max(grange_store_over_bytes) > 0",
    for: "30m",
    severity: "page",
    summary: "The store is {{ $value }} bytes above its limit, and nothing more may be removed.",
    action: "Increase GRANGE_STORE_LIMIT and the disk, or shorten the retention.",
  },
  {
    alert: "GrangeCorruptBlobs",
    expr: "max(grange_store_corrupt_blobs) > 0",
    for: "0m",
    severity: "ticket",
    summary: "The last check of the store found {{ $value }} corrupt blobs, and removed them.",
    action: "Check the disk. The farm makes the content again.",
  },
  {
    alert: "GrangeRefusedSignature",
    expr: 'sum(increase(grange_result_signatures_total{outcome="refused"}[1h])) > 0',
    for: "0m",
    severity: "page",
    summary: "A stored result does not have a valid signature of the farm.",
    action: "The server's log names the result. Find out who can write to the database.",
  },
  {
    alert: "GrangeBackupOld",
    expr: "time() - max(grange_last_backup_timestamp_seconds) > 48 * 3600",
    for: "1h",
    severity: "ticket",
    summary: "The last backup is older than 48 hours.",
    action: "Run `grange backup`, and repair its timer.",
  },
  {
    alert: "GrangeSlowEventLoop",
    expr: 'grange_event_loop_lag_seconds{figure="p99"} > 0.5',
    for: "10m",
    severity: "ticket",
    summary: "The server {{ $labels.instance }} is overloaded: it reacts {{ $value }} s late.",
    action: "Add a server, or give it more CPU.",
  },
  {
    alert: "GrangeBenchmarksUnserved",
    expr: "sum by (target, set) (grange_benchmark_jobs_unserved) > 0",
    for: "1h",
    severity: "ticket",
    summary: "Benchmark jobs of {{ $labels.target }}, set {{ $labels.set }}, have no collector.",
    action: "`grange collector` lists collectors and their state.",
  },
  {
    alert: "GrangeQuarantinedResults",
    expr: "sum(grange_quarantined_results) > 0",
    for: "0m",
    severity: "ticket",
    summary: "{{ $value }} results differed when they were made again.",
    action: "`grange quarantine` lists them.",
  },
];

/** Returns the rules as YAML of Prometheus. */
export function alertsYaml(): string {
  const rules = alerts.map(({ alert, expr, for: period, severity, summary, action }) => ({
    alert,
    expr,
    for: period,
    labels: { severity },
    annotations: { summary, action },
  }));
  return `# Written by \`npm run docs\` from scripts/monitoring/alerts.ts.\n${stringify({ groups: [{ name: "grange", rules }] }, { lineWidth: 0 })}`;
}
