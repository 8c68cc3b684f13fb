import { expect, test } from "vitest";
import { GranaryBuildReport } from "#api/granary.ts";
import { digestOf } from "#cas/digest-of.ts";
import { resultOf } from "../store/granary-store.fixture.ts";
import { indexEntries, startBuildAccesses } from "./build-accesses.ts";
import type { BuildFacts } from "./build-facts.ts";
import { type EndOfBuild, reportOf } from "./report.ts";

const commit = "a".repeat(40);
const facts: BuildFacts = {
  project: "p",
  repository: "r",
  commits: [commit],
  tree: "b".repeat(40),
  branch: "main",
  dirty: false,
  environment: "linux-x64",
  machine: "m",
  command: "make",
  targets: [],
  prefetch: true,
};

const end: EndOfBuild = {
  id: "6f9619ff-8b86-4011-b42d-00cf4fc964ff",
  startedAt: new Date("2026-01-01T00:00:00Z"),
  endedAt: new Date("2026-01-01T00:00:10Z"),
  exitCode: 0,
  indexes: [],
  transferred: { blobs: [], truncated: [] },
  uploadedBytes: 0,
  truncated: [],
};

const text = (length: number, letter: string) => letter.repeat(length);

test("reports the source of results, what arrived early, and what was unused", () => {
  const accesses = startBuildAccesses();
  const early = {
    ...resultOf("early", [text(10, "a"), text(100, "b"), text(7, "c")]),
    costMs: 500,
  };
  const local = { ...resultOf("local", [text(20, "d")]), costMs: 40 };
  const unused = digestOf(Buffer.from(text(1_000, "e")));
  accesses.asked(early, asked("prefetched", early, 2), 100, 50);
  accesses.requestedBlob(early.blobs[0] ?? early.value);
  accesses.asked(local, asked("local", local), 200, undefined);
  accesses.asked(
    { namespace: "ccache", key: "new" },
    { ...asked("missed"), because: "never-made" },
    300,
    undefined,
  );
  accesses.made({ ...resultOf("new", ["made"]), costMs: 70 }, 900);

  const report = reportOf(facts, [...accesses.all()], {
    ...end,
    transferred: { blobs: [early.value, ...early.blobs, unused], truncated: ["prefetch-bytes"] },
  });

  expect(GranaryBuildReport.parse(report)).toMatchObject({
    counts: { local: 1, prefetched: 1, fetched: 0, missed: 1, unreachable: 0 },
    bytes: { local: 20, prefetched: 110, transferred: 1_117, wasted: 1_007 },
    lead: { medianMs: 50, leastMs: 50 },
    waitedMs: 2,
    savedMs: 540,
    truncated: ["prefetch-bytes"],
  });
  expect(report.asked.map(({ key }) => key)).toEqual(["new", "early", "local"]);
});

test("hits and made results are indexed alike, in order of first use", () => {
  const accesses = startBuildAccesses();
  const hit = resultOf("hit", ["value of hit", "read", "never read"]);
  accesses.asked({ namespace: "ccache", key: "made" }, asked("missed"), 5, undefined);
  accesses.asked(hit, asked("local", hit), 10, undefined);
  accesses.requestedBlob(digestOf(Buffer.from("read")));
  accesses.asked({ namespace: "ccache", key: "nobody's" }, asked("missed"), 12, undefined);
  const made = { ...resultOf("made", ["value of made", "output"]), costMs: 33 };
  accesses.made(made, 400);

  expect(indexEntries(accesses.all())).toEqual([
    {
      namespace: "ccache",
      key: "made",
      blobs: [made.value, ...made.blobs],
      firstMs: 5,
      savedMs: 33,
      inputs: undefined,
    },
    {
      namespace: "ccache",
      key: "hit",
      blobs: [hit.value, hit.blobs[0]],
      firstMs: 10,
      savedMs: undefined,
      inputs: undefined,
    },
  ]);
});

test("a truncated list is marked, and keeps the misses", () => {
  const accesses = startBuildAccesses();
  for (let i = 0; i < 2_500; i++) {
    const result = resultOf(`k${i}`, ["value"]);
    accesses.asked(result, asked(i === 2_499 ? "missed" : "local", result), i, undefined);
  }
  const report = reportOf(facts, [...accesses.all()], end);
  expect(report.asked).toHaveLength(2_000);
  expect(report.asked[0]?.key).toBe("k2499");
  expect(report.truncated).toEqual(["asked"]);
  expect(report.counts.local).toBe(2_499);
});

test("the requests of a build are limited, and the report is marked", () => {
  const accesses = startBuildAccesses([], { results: 2 });
  for (const key of ["a", "b", "c"])
    accesses.asked(resultOf(key, ["v"]), asked("missed"), 1, undefined);
  expect([...accesses.all()]).toHaveLength(2);
  expect(accesses.truncated).toBe(true);
});

function asked(
  source: "local" | "prefetched" | "missed",
  result?: ReturnType<typeof resultOf>,
  waitedMs = 0,
) {
  return { source, because: undefined, waitedMs, result };
}
