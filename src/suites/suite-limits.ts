/** The limits for reading an untrusted definition, far above usual definitions. */
export const suiteLimits = {
  bytes: 1024 * 1024,
  /** The nesting depth of maps and lists. */
  depth: 32,
  /** The total number of maps, lists and plain values. */
  parts: 100_000,
  benchmarks: 500,
  backends: 20,
  targets: 20,
  metrics: 100,
  profiles: 50,
  scenarios: 50,
  patches: 20,
  files: 200,
  /** The product of all targets, backends, profiles and scenarios. rustc-perf has about 5,000. */
  cases: 100_000,
  /** Further problems are left out, because people do not read more. */
  problems: 50,
} as const;
