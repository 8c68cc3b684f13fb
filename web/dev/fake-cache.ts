import type { ActionDifferences } from "#api/action-comparison.ts";
import type { CacheUseAnswer, CacheUseKind } from "#api/cache-use.ts";
import type { StoreContents } from "#api/store-contents.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Answers made-up hits and misses: three kinds, two projects and a repository. */
export function fakeCacheUse(now: Date, query: URLSearchParams): CacheUseAnswer {
  const days = Number(query.get("days") ?? 7);
  const periodMs = days === 1 ? hourMs : dayMs;
  const since = Math.ceil((now.getTime() - days * dayMs) / periodMs) * periodMs;
  const count = Math.floor((now.getTime() - since) / periodMs) + 1;
  const series = (kind: CacheUseKind, name: string, requests: number, rate: number) => {
    const periods = Array.from({ length: count }, (_, n) => {
      const all = Math.round(requests * (1 + Math.sin(n)));
      const hits = Math.round(all * Math.min(1, rate + 0.1 * Math.cos(2 * n)));
      return { at: new Date(since + n * periodMs).toISOString(), hits, misses: all - hits };
    }).filter(({ hits, misses }) => hits + misses > 0);
    const sum = (of: (period: (typeof periods)[number]) => number) =>
      periods.reduce((total, period) => total + of(period), 0);
    return {
      kind,
      name,
      hits: sum(({ hits }) => hits),
      misses: sum((each) => each.misses),
      periods,
    };
  };
  return {
    since: new Date(since).toISOString(),
    until: now.toISOString(),
    periodMs,
    series: [
      series("actions", "default", 4_000, 0.86),
      series("actions", "team/web", 300, 0.4),
      series("ccache", "default", 900, 0.71),
      series("jobs", "grange", 60, 0.55),
    ],
  };
}

/** Answers a made-up store that is nearly full. */
export function fakeStoreContents(now: Date): StoreContents {
  const ago = (hours: number) => new Date(now.getTime() - hours * hourMs).toISOString();
  const gigabytes = (...sizes: readonly number[]) => sizes.map((size) => size * 1_000 ** 3);
  return {
    countedAt: ago(0.4),
    farm: { limitBytes: 200 * 1_000 ** 3, bytes: 183 * 1_000 ** 3, blobs: 2_400_000 },
    idleClassesMs: [0, 11_100_000, dayMs, 7 * dayMs, 30 * dayMs],
    projects: [
      {
        project: "default",
        directory: "",
        blobs: 2_100_000,
        bytes: 171 * 1_000 ** 3,
        idleBytes: gigabytes(11, 40, 60, 50, 10),
      },
      {
        project: "team/web",
        directory: "projects/team-web-0123",
        blobs: 300_000,
        bytes: 12 * 1_000 ** 3,
        idleBytes: gigabytes(0, 1, 2, 9, 0),
      },
    ],
    next: Array.from({ length: 30 }, (_, n) => ({
      project: n % 4 === 0 ? "team/web" : "default",
      digest: `${n.toString(16).padStart(2, "0").repeat(32)}/${(31 - n) * 1_000_000}`,
      bytes: (31 - n) * 1_000_000,
      lastUsedAt: ago(1_000 - n),
      isHeld: n > 25,
    })),
  };
}

/** Answers a made-up comparison of two actions. */
export function fakeActionComparison(query: URLSearchParams): ActionDifferences {
  const isSameAction = query.get("before") === query.get("after");
  return {
    isSameAction,
    command: isSameAction
      ? []
      : [
          { part: "argument", name: "3", before: "-O1", after: "-O2" },
          { part: "environment", name: "LANG", before: null, after: "C.UTF-8" },
        ],
    inputs: isSameAction ? [] : [{ path: "src/main.c", change: "changed" }],
    isCut: false,
    unreadable: null,
  };
}
