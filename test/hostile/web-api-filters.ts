import assert from "node:assert/strict";
import type { HostileCase } from "./case.ts";
import type { HostileFarm } from "./hostile-farm.ts";

type Case = HostileCase<HostileFarm>;

/** Attempts of SQL injection, for filters that are not parameters of a statement. */
const injected = [
  "'",
  "'; drop table execution; --",
  "' or '1'='1",
  "\\",
  "%",
  "_%\\%",
  "$1",
  "${1}",
  "a\u0000b",
  "\u{1f600}\u202e",
  "(a+)+$".repeat(50),
  "a".repeat(10_000),
  "1e309",
  "-1",
  "NaN",
  "[object Object]",
];

/** Each filter of each list: the server has no internal error, is never slow, and all tables exist afterwards. */
const filters: readonly (readonly [path: string, ...parameters: string[]])[] = [
  ["/graphs", "repository", "commit", "limit", "before"],
  ["/events-of-none", "repository"],
  ["/invocations", "project", "commit", "limit", "before"],
  ["/invocations/none", "project"],
  ["/invocations/none/actions", "project", "state", "text", "after", "limit"],
  ["/invocations/none/log", "project", "offset", "attempt"],
  ["/searches", "repository", "limit"],
  ["/searches/none", "before", "limit"],
  ["/size-class-keys", "text", "limit", "before"],
  ["/size-class-keys/none", "project", "domain"],
  ["/size-classes/1", "platform"],
  ["/size-classes/trace", "since"],
  ["/times", "repository", "branch", "group", "window"],
  ["/catalogs", "limit"],
  ["/catalogs/diff", "a", "b", "repository"],
  ["/signatures", "catalog"],
  ["/granary/builds", "project", "repository", "commit", "limit", "after"],
  ["/granary/savings", "project", "days"],
  ["/granary/indexes", "project", "limit"],
  ["/granary/index", "project", "repository", "commit", "environment", "from"],
  ["/granary/quarantine", "project"],
  ["/benchmarks/artifacts", "suite", "kind", "limit", "before"],
  ["/benchmarks/requests", "suite", "state", "limit", "before"],
  ["/benchmarks/compare", "suite", "before", "after", "metric"],
  ["/benchmarks/noise", "suite", "case"],
  ["/benchmarks/series", "suite", "case", "metric", "kind", "samples"],
  [
    "/benchmarks/graphs",
    "suite",
    "metric",
    "benchmark",
    "section",
    "profile",
    "from",
    "to",
    "limit",
  ],
  ["/benchmarks/change-points", "suite", "since", "standing", "limit"],
  ["/benchmarks/sets/balance", "suite", "target", "sets"],
];

/** Names in paths that a database query might contain. */
const names = [
  "/graphs/{}",
  "/graphs/{}/jobs/a",
  "/graphs/latest/jobs/{}",
  "/graphs/latest/jobs/a/runs/{}/log",
  "/graphs/latest/jobs/a/runs/1/outputs/{}",
  "/sets/{}",
  "/executions/{}",
  "/executions/{}/size-class",
  "/executions/{}/log",
  "/invocations/{}",
  "/searches/{}",
  "/catalogs/{}",
  "/repositories/{}/branches",
  "/repositories/a/branches/{}",
  "/metrics/{}",
  "/blobs/{}/5",
  "/blobs/{}/5/tree",
  "/granary/builds/{}",
  "/benchmarks/suites/{}",
  "/benchmarks/requests/{}",
  "/benchmarks/requests/{}/report",
  "/size-class-keys/{}",
];

async function isNoFailure({ ask }: HostileFarm, path: string): Promise<void> {
  const since = performance.now();
  const { status, text } = await ask(path);
  assert(status < 500 || status === 501, `${path.slice(0, 120)}: ${status} ${text.slice(0, 300)}`);
  assert(performance.now() - since < 120_000, `${path.slice(0, 120)} took too long`);
  assert(text.length < 1_000_000);
}

export const requestedCases: readonly Case[] = [
  ...filters.map(
    ([path, ...parameters]): Case => ({
      name: `filters of ${path}: ${parameters.join(", ")}`,
      async run(farm) {
        const once = filled(path, parameters);
        for (const parameter of parameters) {
          for (const value of injected) {
            const query = new URLSearchParams({ ...once, [parameter]: value });
            await isNoFailure(farm, `${path}?${query.toString()}`);
          }
        }
      },
    }),
  ),
  ...names.map(
    (path): Case => ({
      name: `names in ${path}`,
      async run(farm) {
        for (const value of injected)
          await isNoFailure(farm, path.replace("{}", encodeURIComponent(value)));
      },
    }),
  ),
];

/** Adds the other required parameters of a list, so that the tested one is parsed. */
function filled(path: string, parameters: readonly string[]): Record<string, string> {
  const usual: Record<string, string> = {
    suite: "none",
    target: "none",
    since: "2026-01-01",
    commit: "a".repeat(40),
    a: "main",
    b: "main",
    catalog: "a",
  };
  if (path === "/size-classes/trace") return { since: "1h" };
  return Object.fromEntries(
    parameters.flatMap((name) => (usual[name] === undefined ? [] : [[name, usual[name]]])),
  );
}
