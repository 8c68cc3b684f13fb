import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { caseKey } from "#core/test-case.ts";
import { Suite } from "#suites/suite.ts";
import { caseOf, definition } from "./fake-farm.fixture.ts";
import { leftToMeasure } from "./left-to-measure.ts";
import { onLoad } from "./on-load.ts";
import { changesOfRuns, equalRunsWanted, reportOf } from "./self-test.ts";
import { selfTestDue, spread } from "./self-test-due.ts";
import { type KeptTest, Spool } from "./spool.ts";
import { endsForUpdate } from "./update.ts";

const hour = 60 * 60_000;

test.each([
  { is: "quiet", policy: "refuse", busy: undefined, waitedMs: 0, kind: "begin", flagged: false },
  { is: "busy", policy: "wait", busy: "busy", waitedMs: 9, kind: "wait", flagged: false },
  { is: "busy for long", policy: "wait", busy: "busy", waitedMs: 10, kind: "begin", flagged: true },
  { is: "busy", policy: "flag", busy: "busy", waitedMs: 0, kind: "begin", flagged: true },
  {
    is: "busy for ever",
    policy: "refuse",
    busy: "busy",
    waitedMs: 1e9,
    kind: "wait",
    flagged: false,
  },
] as const)("a machine that is $is, told to $policy: $kind", ({ kind, flagged, ...asked }) => {
  const decision = onLoad({ ...asked, waitLimitMs: 10 });

  expect(decision.kind).toBe(kind);
  expect("warning" in decision).toBe(flagged);
});

describe("an update", () => {
  const asked = {
    own: "1",
    server: "2",
    current: "r",
    next: "r",
    tried: undefined,
    nowMs: 10 * hour,
  };
  const tried = (atMs: number, to = "2") => ({ tried: { from: "1", to, atMs } });

  test.each([
    { when: "versions are equal", more: { server: "1", next: "s" }, ends: false },
    { when: "the request goes on", more: {}, ends: false },
    { when: "another request begins", more: { next: "s" }, ends: true },
    { when: "there is nothing to do", more: { next: undefined }, ends: true },
    { when: "nothing was done yet", more: { current: undefined, next: "s" }, ends: true },
    { when: "it brought nothing just now", more: { next: "s", ...tried(9.5 * hour) }, ends: false },
    { when: "it brought nothing an hour ago", more: { next: "s", ...tried(9 * hour) }, ends: true },
    { when: "there is a newer one", more: { next: "s", ...tried(9.5 * hour, "1.5") }, ends: true },
  ])("$when: $ends", ({ more, ends }) => {
    expect(endsForUpdate({ ...asked, ...more })).toBe(ends);
  });
});

describe("a self-test", () => {
  const at = (text: string) => new Date(`2026-03-10T${text}:00`);
  const yesterday = new Date("2026-03-09T12:00:00");
  const longAgo = new Date("2026-03-08T12:00:00");
  const asked = {
    isWanted: false,
    isDue: false,
    atMinutes: undefined,
    triedAt: undefined,
    startedAt: yesterday,
    now: at("04:00"),
  };

  test.each([
    { when: "without a request", more: {}, due: false },
    { when: "on request", more: { isWanted: true, triedAt: at("03:59") }, due: true },
    { when: "the server says so", more: { isDue: true }, due: true },
    { when: "it was tried just now", more: { isDue: true, triedAt: at("03:30") }, due: false },
    { when: "it was tried an hour ago", more: { isDue: true, triedAt: at("03:00") }, due: true },
    { when: "its hour has come", more: { atMinutes: 180 }, due: true },
    { when: "its hour came before it", more: { atMinutes: 300, triedAt: yesterday }, due: false },
    { when: "it missed one", more: { atMinutes: 300, triedAt: longAgo }, due: true },
    {
      when: "its hour is to come today",
      more: { atMinutes: 300, triedAt: at("00:10") },
      due: false,
    },
    { when: "it was made since", more: { atMinutes: 180, triedAt: at("03:01") }, due: false },
  ])("when $when: $due", ({ more, due }) => {
    expect(selfTestDue({ ...asked, ...more })).toBe(due);
  });

  test.each([
    { items: "abcdefgh", count: 4, expected: "aceg" },
    { items: "abc", count: 7, expected: "abcabca" },
    { items: "", count: 3, expected: "" },
  ])("takes $count of $items: $expected", ({ items, count, expected }) => {
    expect(spread(Array.from(items), count).join("")).toBe(expected);
  });

  test("each metric of each case is a comparison, and each verdict a false alarm", () => {
    const change = (metric: string, verdict: string, by: number) => ({
      metric,
      verdict,
      change: by,
    });
    const [first, second] = [caseOf("a"), caseOf("b")];

    const report = reportOf(
      { suite: "tiny" },
      [
        {
          case: first,
          changes: [change("wall", "regressed", -0.03), change("rss", "unchanged", 0)],
        },
        { case: second, changes: [change("wall", "undecided", Number.NaN)] },
      ],
      ["c: it exited with 1"],
    );

    expect(report).toMatchObject({ comparisons: 3, alarms: 1 });
    expect(report.noise).toEqual([
      { suite: "tiny", case: first, metric: "wall", change: 0.03 },
      { suite: "tiny", case: first, metric: "rss", change: 0 },
    ]);
    expect(report.detail).toMatchObject({ failed: ["c: it exited with 1"] });
  });
});

describe("the runs of a self-test", () => {
  const metrics = {
    lines: { take: { from: "output", pattern: "(\\d+)" }, nature: "exact", unit: "count" },
    wall: { take: { from: "wall-time" }, nature: "noisy", unit: "seconds" },
    instructions: {
      take: { from: "instructions" },
      nature: "deterministic",
      unit: "instructions",
    },
  };
  const suiteWith = (...names: (keyof typeof metrics)[]) =>
    Suite.parse({
      ...definition,
      metrics: Object.fromEntries(names.map((name) => [name, metrics[name]])),
      headline: names[0],
      iterations: { counted: 3, timed: 4 },
    });

  test.each([
    { names: ["wall"] as const, counted: 0, timed: 0 },
    { names: ["lines"] as const, counted: 0, timed: 2 },
    { names: ["instructions"] as const, counted: 6, timed: 0 },
    { names: ["lines", "wall", "instructions"] as const, counted: 6, timed: 2 },
  ])("of $names: $counted counted, $timed timed", ({ names, counted, timed }) => {
    const wanted = equalRunsWanted(suiteWith(...names), caseOf("a"));
    expect(wanted).toEqual({ counted, timed });
  });

  test.each([
    { metric: "lines" as const, values: [7, 7], verdict: "no-change" },
    { metric: "lines" as const, values: [1_000_000, 1_000_001], verdict: "regressed" },
    // Natural variation is not a fault of the machine: the limit grows accordingly.
    {
      metric: "instructions" as const,
      values: [697.8, 699.7, 699.4, 697.9, 701.9, 698],
      verdict: "no-change",
    },
    {
      metric: "instructions" as const,
      values: [700, 710, 700, 710, 700, 710],
      verdict: "regressed",
    },
  ])("$values of $metric: $verdict", ({ metric, values, verdict }) => {
    const runs = values.map((value, i) => ({
      iteration: i + 1,
      values: { [metric]: value },
      warnings: [],
    }));
    expect(changesOfRuns(suiteWith(metric), runs)).toMatchObject([{ metric, verdict }]);
  });
});

const jobId = "7f0c8a52-0000-4000-8000-000000000001";
const kept = (benchmark: string, more: Partial<KeptTest["test"]>): KeptTest => ({
  jobId,
  fingerprint: "f",
  keptAtMs: Date.now(),
  test: { case: caseOf(benchmark), metrics: [], ...more },
});
const pair = (number: number) => ({ pair: number, parentFirst: false, child: {}, parent: {} });

describe("the rest of a job", () => {
  const cases = ["a", "b", "c", "d"].map((name) => ({ case: caseOf(name), storedPairs: 0 }));
  const names = (purpose: "own" | "paired", all: KeptTest[], done: string[] = []) =>
    leftToMeasure({ cases, purpose }, all, done).map(
      (each) => `${each.case.benchmark}${each.from || ""}`,
    );

  test("contains the tests that are neither stored here nor done", () => {
    const all = [
      kept("a", { iterations: [{ iteration: 1, values: {} }] }),
      kept("b", { error: "no" }),
    ];

    expect(names("own", all, [caseKey(caseOf("c"))])).toEqual(["d"]);
  });

  test("with pairs continues after the last sent or stored pair; an error ends them", () => {
    const all = [
      kept("a", { pairs: [pair(1)] }),
      kept("a", { pairs: [pair(2)] }),
      kept("b", { pairs: [pair(1)] }),
      kept("b", { error: "no" }),
    ];

    expect(names("paired", all)).toEqual(["a2", "c", "d"]);
  });
});

describe("the spool", () => {
  const open = async (dir: string, nowMs = Date.now()) => Spool.open(dir, nowMs);
  const directory = () => {
    const dir = mkdtempSync(join(tmpdir(), "grange-kept-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return dir;
  };

  test("gives unsent results to the next process, in their order", async () => {
    const dir = directory();
    const { spool } = await open(dir);
    for (const name of ["a", "b", "c"]) await spool.keep(kept(name, { error: name }));
    const [[first] = [""]] = spool.of(jobId);
    await spool.drop(first);

    const next = (await open(dir)).spool;
    await next.keep(kept("d", { error: "d" }));

    expect(next.of(jobId).map(([, each]) => each.test.error)).toEqual(["b", "c", "d"]);
  });

  test("drops broken results, and results so old that another collector has the job", async () => {
    const dir = directory();
    const { spool } = await open(dir);
    await spool.keep(kept("a", { error: "a" }));
    writeFileSync(join(dir, "spool", "000000002-x.json"), "{");
    writeFileSync(join(dir, "spool", "000000003-x.json.part"), "{}");

    const next = await open(dir);
    expect(next.broken).toEqual(["000000002-x.json", "000000003-x.json.part"]);
    expect(next.spool.of(jobId)).toHaveLength(1);

    expect((await open(dir, Date.now() + 25 * hour)).spool.of(jobId)).toEqual([]);
    expect(readdirSync(join(dir, "spool"))).toEqual([]);
  });
});
