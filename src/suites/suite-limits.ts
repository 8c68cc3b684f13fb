/** How much of a stranger's definition is read. Far above what people write. */
export const suiteLimits = {
  bytes: 1024 * 1024,
  /** Maps and lists within each other. */
  depth: 32,
  /** Maps, lists and plain values together. */
  parts: 100_000,
  benchmarks: 500,
  backends: 20,
  targets: 20,
  metrics: 100,
  profiles: 50,
  scenarios: 50,
  patches: 20,
  files: 200,
  /** All targets, backends, profiles and scenarios together. rustc-perf has some 5,000. */
  cases: 100_000,
  /** More problems than people read are left out. */
  problems: 50,
} as const;
