import { createHash } from "node:crypto";
import type { GranaryBuildReport, RequestedResult } from "#api/granary.ts";
import { FakeGranary } from "./fake-granary.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const commit = (n: number) => hash(`commit ${n}`).slice(0, 40);
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const dayMs = 86_400_000;

const commands = [
  "make -j8",
  "dune build @install",
  "bazel test //...",
  "npx nx run-many -t build",
];
const machines = ["ci-3.example.org", "attic", "ada-laptop"];
const environment = hash("environment").slice(0, 16);

/** Granaries that reported 70 builds in a month, some of them cold. */
export function madeUpGranary(now: Date): FakeGranary {
  const granary = new FakeGranary();
  granary.builds = Array.from({ length: 70 }, (_, n) => madeUpBuild(n, now));
  granary.days = Array.from({ length: 30 }, (_, n) => madeUpDay(29 - n, now));
  granary.indexes = Array.from({ length: 12 }, (_, n) => ({
    project: "default",
    repository: "https://example.org/grange.git",
    commit: commit(n),
    environment,
    tree: hash(`tree ${n}`).slice(0, 40),
    branch: n % 3 === 0 ? "main" : `topic/${n}`,
    complete: n % 4 !== 1,
    targets: n % 2 === 0 ? ["@install"] : [],
    entries: 3_157 - n * 11,
    bytes: 58_000_000 - n * 400_000,
    builds: 1 + (n % 5),
    chain: 1 + (n % 3),
    updatedAt: new Date(now.getTime() - n * 3_000_000).toISOString(),
    lastUsedAt: new Date(now.getTime() - n * 2_000_000).toISOString(),
  }));
  granary.results = Array.from({ length: 450 }, (_, n) => ({
    namespace: n % 3 === 0 ? "reapi" : "dune",
    key: `${hash(`key ${n}`)}/142`,
    bytes: 800 + n * 731,
    blobs: 1 + (n % 4),
    firstMs: n * 37,
    savedMs: n % 7 === 0 ? null : 120 + n * 3,
    here: n % 19 !== 7,
  }));
  granary.quarantined = [0, 1].map((n) => ({
    project: "default",
    divergence: {
      namespace: "reapi",
      key: `${hash(`odd ${n}`)}/142`,
      kept: `${hash(`kept ${n}`)}/311`,
      madeNow: `${hash(`made ${n}`)}/311`,
      differs: n === 0 ? ["_build/default/bin/version.o", "_build/default/bin/main.exe"] : [],
      machine: "ci-3.example.org",
      build: uuid(4),
      at: new Date(now.getTime() - 7_200_000 * (n + 1)).toISOString(),
    },
    producer: n === 0 ? "bram" : "",
    foundAt: new Date(now.getTime() - 7_200_000 * (n + 1)).toISOString(),
    foundBy: "ci",
    releasedAt: n === 0 ? null : new Date(now.getTime() - 3_600_000).toISOString(),
    releasedBy: n === 0 ? null : "ada",
    givenTo:
      n === 0
        ? [6, 9].map((build) => ({
            build: uuid(build),
            machine: machines[build % 3] ?? "",
            commit: commit(build),
            at: new Date(now.getTime() - build * 3_600_000).toISOString(),
          }))
        : [],
    madeFrom: n === 0 ? 214 : 0,
    alsoInQuarantine: 0,
  }));
  granary.store = {
    limitBytes: 200 * 1024 ** 3,
    counted: {
      at: now.toISOString(),
      blobs: 812_344,
      bytes: 176 * 1024 ** 3,
      youngBytes: 12 * 1024 ** 3,
      heldBytes: 1024 ** 3,
      overBytes: 0,
    },
    evicted: {
      at: new Date(now.getTime() - 5 * 3_600_000).toISOString(),
      blobs: 41_020,
      bytes: 21 * 1024 ** 3,
      names: 9_312,
    },
    scrubbed: null,
    evictedInAll: { blobs: 91_020, bytes: 41 * 1024 ** 3, names: 19_312 },
  };
  return granary;
}

function madeUpBuild(n: number, now: Date): GranaryBuildReport {
  const isCold = n % 9 === 5;
  const endedAt = now.getTime() - (n * 0.4 * dayMs + 240_000);
  const lengthMs = isCold ? 62_000 : 9_400;
  const asked = madeUpRequested(n, lengthMs, isCold);
  const of = (source: RequestedResult["source"]) => asked.filter((each) => each.source === source);
  const counts = {
    local: of("local").length,
    prefetched: of("prefetched").length,
    fetched: of("fetched").length,
    missed: of("missed").length,
    unreachable: of("unreachable").length,
  };
  const bytesOf = (source: RequestedResult["source"]) =>
    of(source).reduce((sum, each) => sum + each.bytes, 0);
  return {
    id: uuid(n),
    project: "default",
    repository: "https://example.org/grange.git",
    commit: n % 11 === 10 ? null : commit(n % 12),
    branch: n % 3 === 0 ? "main" : `topic/${n}`,
    dirty: n % 5 === 3,
    environment,
    machine: machines[n % 3] ?? "",
    command: commands[n % 4] ?? "",
    startedAt: new Date(endedAt - lengthMs).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    exitCode: n % 13 === 12 ? 2 : 0,
    indexes: isCold
      ? []
      : [
          { source: "commit", commit: commit(n % 12), distance: 0, complete: true, entries: 3_157 },
          {
            source: "ancestor",
            commit: commit((n + 1) % 12),
            distance: 2,
            complete: false,
            entries: 2_911,
          },
        ],
    counts,
    bytes: {
      local: bytesOf("local"),
      prefetched: bytesOf("prefetched"),
      fetched: bytesOf("fetched"),
      transferred: Math.round(bytesOf("prefetched") * 1.08),
      wasted: Math.round(bytesOf("prefetched") * 0.08),
      uploaded: bytesOf("missed"),
    },
    lead: isCold ? null : { medianMs: 1_240, leastMs: 3 },
    waitedMs: asked.reduce((sum, each) => sum + each.waitedMs, 0),
    savedMs: asked.reduce((sum, each) => sum + (each.savedMs ?? 0), 0),
    truncated: n % 9 === 1 ? ["asked"] : [],
    asked,
  };
}

function madeUpRequested(build: number, lengthMs: number, isCold: boolean): RequestedResult[] {
  const late = ["not-indexed", "overtaken", "over-budget"] as const;
  const missing = ["never-made", "incomplete", "quarantined", "cross-check"] as const;
  return Array.from({ length: 320 }, (_, n): RequestedResult => {
    const atMs = Math.round((n / 320) ** 1.3 * lengthMs);
    const kind = (n * 7 + build) % 20;
    const source = isCold
      ? kind < 1
        ? "fetched"
        : "missed"
      : kind < 3
        ? "local"
        : kind < 17
          ? "prefetched"
          : kind < 19
            ? "fetched"
            : "missed";
    return {
      namespace: n % 3 === 0 ? "reapi" : "dune",
      key: `${hash(`key ${n}`)}/142`,
      source,
      because:
        source === "fetched"
          ? (late[n % 3] ?? null)
          : source === "missed"
            ? isCold
              ? "never-made"
              : (missing[n % 4] ?? null)
            : null,
      atMs,
      bytes: 900 + ((n * 7_919) % 90_000),
      leadMs: source === "prefetched" ? Math.min(atMs, 40 + ((n * 53) % 2_600)) : null,
      waitedMs: source === "fetched" ? 12 + (n % 90) : 0,
      savedMs: source === "missed" ? null : 140 + (n % 700),
    };
  });
}

function madeUpDay(ago: number, now: Date) {
  const builds = ago % 7 === 2 ? 0 : 3 + ((ago * 5) % 11);
  const asked = builds * 320;
  const hits = Math.round(asked * (0.55 + (29 - ago) * 0.013));
  return {
    day: new Date(now.getTime() - ago * dayMs).toISOString().slice(0, 10),
    builds,
    asked,
    hits,
    prefetched: Math.round(hits * 0.8),
    savedMs: hits * 410,
    waitedMs: builds * 900,
    transferredBytes: hits * 40_000,
    wastedBytes: hits * 2_900,
  };
}
