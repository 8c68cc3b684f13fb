import { expect, test } from "vitest";
import type { GranaryBuildReport, LateReason, RequestedResult } from "#api/granary.ts";
import { buildLines, whyLines } from "./why-lines.ts";

const now = new Date("2026-11-22T10:05:00.000Z");
const id = "11111111-1111-4111-8111-111111111111";

function asked(key: string, because: LateReason | null, more: Partial<RequestedResult> = {}) {
  const plain: RequestedResult = {
    namespace: "ccache",
    key,
    source: because === null ? "local" : "missed",
    because,
    atMs: 10,
    bytes: 1,
    leadMs: null,
    waitedMs: 0,
    savedMs: null,
  };
  return { ...plain, ...more };
}

const report: GranaryBuildReport = {
  id,
  project: "p",
  repository: "r",
  commit: "a".repeat(40),
  branch: "main",
  dirty: false,
  environment: "e",
  machine: "m",
  command: "make \u001b[31m-j8",
  startedAt: "2026-11-22T10:00:00.000Z",
  endedAt: "2026-11-22T10:01:00.000Z",
  exitCode: 0,
  indexes: [
    {
      source: "ancestor",
      commit: "b".repeat(40),
      distance: 2,
      complete: true,
      entries: 40,
      dropped: 3,
    },
  ],
  counts: { local: 1, prefetched: 0, fetched: 1, missed: 8, unreachable: 0 },
  bytes: { local: 0, prefetched: 0, fetched: 0, transferred: 2048, wasted: 1024, uploaded: 0 },
  lead: null,
  waitedMs: 900,
  savedMs: 5_000,
  truncated: [],
  asked: [
    ...Array.from({ length: 8 }, (_, n) => asked(`new${n}`, "never-made", { savedMs: n })),
    asked("late", "overtaken", { source: "fetched", waitedMs: 900 }),
    asked("here", null),
  ],
};
const told = (of: GranaryBuildReport | null) => ({
  type: "reported" as const,
  report: of,
  builds: of === null ? [] : [of],
});

test("a build's report says what was waited for first, why, and what to do about it", () => {
  const lines = whyLines(told(report), now);

  expect(lines[0]).toBe("make -j8, ended 4 min 00 s ago, of commit aaaaaaaaaaaa on main");
  expect(lines).toContain(
    "index of an earlier commit: bbbbbbbbbbbb, 2 commits away, 40 results, 3 of them with inputs that have changed since",
  );
  // The saved work, not the time by which the build was shorter.
  expect(lines[2]).toContain("hits saved 5.0 s of work, summed over parallel steps;");
  const reasons = lines.filter((line) => /^\d+ ×/.test(line));
  expect(reasons).toEqual([
    "1 × the build was faster than the network, waited 900 ms",
    "8 × no build had made it",
  ]);
  // Five are named, the most expensive first.
  expect(lines.filter((line) => line.includes("ccache new"))).toHaveLength(5);
  expect(lines.findIndex((line) => line.includes("new7"))).toBe(
    lines.indexOf(reasons[1] ?? "") + 2,
  );
  expect(lines.at(-1)).toBe("    and 3 more");
});

test("a build without an index says why it had none", () => {
  const none = (more: Partial<GranaryBuildReport>) =>
    whyLines(told({ ...report, indexes: [], ...more }), now).find((line) =>
      line.startsWith("no index"),
    );

  expect(none({})).toContain("has been reported");
  expect(none({ notAhead: "wasteful" })).toContain("did not use most");
});

test("what is not known is said so, and the last builds are listed", () => {
  expect(whyLines(told(null), now)).toEqual([expect.stringContaining("knows no finished build")]);
  expect(whyLines({ ...told(report), report: null }, now)[0]).toContain("no build with this id");
  expect(buildLines(told(report), now)).toEqual([
    "11111111  4 min 00 s ago, exit code 0, p: make -j8",
  ]);
});
