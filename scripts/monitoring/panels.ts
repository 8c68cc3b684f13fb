/** What a panel shows. `unit` is one of Grafana's. */
export interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly kind: "stat" | "timeseries";
  readonly unit: "short" | "s" | "bytes" | "percentunit" | "Bps" | "ops" | "dateTimeFromNow";
  readonly queries: readonly { readonly expr: string; readonly legend: string }[];
}

interface PanelRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Servers count over the same database: `max` shows one figure of the farm, whichever server was scraped. */
export const panelRows: readonly PanelRow[] = [
  {
    title: "Jobs and queue",
    panels: [
      {
        title: "Jobs by state",
        kind: "timeseries",
        unit: "short",
        queries: [{ expr: "max by (state) (grange_jobs)", legend: "{{state}}" }],
      },
      {
        title: "Executions",
        description: "Queued: they wait for a worker. Leased: a worker has them.",
        kind: "timeseries",
        unit: "short",
        queries: [
          { expr: "max by (state) (grange_executions)", legend: "{{state}}" },
          { expr: "max(grange_executions_unserved)", legend: "no size class can run them" },
        ],
      },
      {
        title: "Wait from ready to start",
        kind: "timeseries",
        unit: "s",
        queries: [0.5, 0.95].map((share) => ({
          expr: `histogram_quantile(${share}, max by (le) (rate(grange_run_wait_seconds_bucket[15m])))`,
          legend: `p${share * 100}`,
        })),
      },
      {
        title: "Run time",
        kind: "timeseries",
        unit: "s",
        queries: [0.5, 0.95].map((share) => ({
          expr: `histogram_quantile(${share}, max by (le) (rate(grange_run_duration_seconds_bucket[15m])))`,
          legend: `p${share * 100}`,
        })),
      },
    ],
  },
  {
    title: "Workers",
    panels: [
      {
        title: "Workers by state",
        kind: "timeseries",
        unit: "short",
        queries: [{ expr: "max by (state) (grange_workers)", legend: "{{state}}" }],
      },
      {
        title: "Desired and existing workers",
        kind: "timeseries",
        unit: "short",
        queries: [
          {
            expr: "max by (platform, size_class) (grange_workers_desired)",
            legend: "desired {{platform}} {{size_class}}",
          },
          {
            expr: "max by (platform, size_class) (grange_workers_up)",
            legend: "up {{platform}} {{size_class}}",
          },
        ],
      },
      {
        title: "Busy slots",
        kind: "timeseries",
        unit: "percentunit",
        queries: [
          {
            expr: "max by (platform, size_class) (grange_slots_busy) / (max by (platform, size_class) (grange_slots_up) > 0)",
            legend: "{{platform}} {{size_class}}",
          },
        ],
      },
      {
        title: "Queued executions by size class",
        kind: "timeseries",
        unit: "short",
        queries: [
          {
            expr: "max by (platform, size_class) (grange_executions_queued)",
            legend: "{{platform}} {{size_class}}",
          },
        ],
      },
    ],
  },
  {
    title: "Store and caches",
    panels: [
      {
        title: "Size of the store",
        kind: "timeseries",
        unit: "bytes",
        queries: [
          { expr: "max(grange_store_bytes)", legend: "blobs" },
          { expr: "max(grange_store_limit_bytes)", legend: "limit" },
        ],
      },
      {
        title: "Evicted bytes",
        kind: "timeseries",
        unit: "Bps",
        queries: [{ expr: "sum(rate(grange_store_evicted_bytes_total[15m]))", legend: "evicted" }],
      },
      {
        title: "Hit rate of HTTP caches",
        kind: "timeseries",
        unit: "percentunit",
        queries: [
          {
            expr: 'sum by (tool) (rate(grange_cache_requests_total{outcome="hit"}[15m])) / (sum by (tool) (rate(grange_cache_requests_total{outcome=~"hit|miss"}[15m])) > 0)',
            legend: "{{tool}}",
          },
        ],
      },
      {
        title: "Results of granaries, 24 hours",
        kind: "timeseries",
        unit: "short",
        queries: [{ expr: "max by (source) (grange_granary_results)", legend: "{{source}}" }],
      },
    ],
  },
  {
    title: "Health",
    panels: [
      {
        title: "Delay of the event loop",
        kind: "timeseries",
        unit: "s",
        queries: [
          {
            expr: 'grange_event_loop_lag_seconds{figure="p99"}',
            legend: "{{instance}} p99",
          },
        ],
      },
      {
        title: "Memory of servers",
        kind: "timeseries",
        unit: "bytes",
        queries: [
          { expr: "process_resident_memory_bytes", legend: "{{instance}}" },
          { expr: "nodejs_heap_size_used_bytes", legend: "{{instance}} heap" },
        ],
      },
      {
        title: "Refused signatures of results",
        kind: "timeseries",
        unit: "ops",
        queries: [
          {
            expr: 'sum(rate(grange_result_signatures_total{outcome="refused"}[15m]))',
            legend: "refused",
          },
        ],
      },
      {
        title: "Last backup",
        kind: "stat",
        unit: "dateTimeFromNow",
        queries: [
          { expr: "max(grange_last_backup_timestamp_seconds) * 1000", legend: "last backup" },
        ],
      },
    ],
  },
];
