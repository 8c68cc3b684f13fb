import { describe, expect, test } from "vitest";
import { CaseComparison, MetricSummary, MissingCase } from "#api/benchmark-comparison.ts";
import { caseKey } from "#core/test-case.ts";
import { changesToConfirm } from "./changes-to-confirm.ts";
import { compareArtifacts } from "./compare-artifacts.ts";
import {
  aCase,
  instructions,
  measured,
  pairedTimes,
  size,
  time,
  toCompare,
} from "./measured.fixture.ts";

const compared = (some: Parameters<typeof toCompare>[0]) => {
  const result = compareArtifacts(toCompare(some));
  // The result is serialised as JSON and parsed with these schemas.
  for (const each of result.cases) CaseComparison.parse(JSON.parse(JSON.stringify(each)));
  for (const each of result.summaries) MetricSummary.parse(JSON.parse(JSON.stringify(each)));
  for (const each of result.missing) MissingCase.parse(each);
  return result;
};
const both = (before: number, after: number, metric = "instructions") => ({
  before: [measured({ [metric]: before })],
  after: [measured({ [metric]: after })],
});

describe("deterministic metrics", () => {
  test.each([
    { before: 1_000, after: 1_000, verdict: "no-change", significant: false, magnitude: 0 },
    { before: 100_000, after: 100_100, verdict: "no-change", significant: false, magnitude: 1 },
    { before: 1_000, after: 1_030, verdict: "regressed", significant: true, magnitude: 4 },
    { before: 1_000, after: 900, verdict: "improved", significant: true, magnitude: 5 },
    { before: 0, after: 0, verdict: "no-change", significant: false, magnitude: 0 },
    { before: 0, after: 7, verdict: "regressed", significant: true, magnitude: 5 },
    { before: 7, after: 0, verdict: "improved", significant: true, magnitude: 5 },
  ])("from $before to $after: $verdict", ({ before, after, ...expected }) => {
    expect(compared(both(before, after)).cases).toMatchObject([expected]);
  });

  test("a change from zero has no relative change", () => {
    expect(compared(both(0, 7)).cases[0]?.change).toBeNull();
    expect(compared(both(0, 0)).cases[0]?.change).toBe(0);
  });

  test("are judged by the noise of their predecessors", () => {
    const noisy = Array.from({ length: 30 }, (_, i) => 1_000 * (1 + 0.001 * i * (i % 2)));

    const { cases } = compared({ ...both(1_000, 1_030), historyOf: () => noisy });

    expect(cases[0]).toMatchObject({
      verdict: "no-change",
      evidence: { by: "fence", history: 30, exact: false },
    });
  });

  test("swap better and worse when higher is better", () => {
    const metrics = [{ ...instructions, better: "higher" as const }];

    expect(compared({ metrics, ...both(1_000, 1_030) }).cases[0]?.verdict).toBe("improved");
  });

  test("only give hints when they do not decide", () => {
    const metrics = [{ ...instructions, decides: false }];

    expect(compared({ metrics, ...both(1_000, 1_500) }).cases).toMatchObject([
      { verdict: "undecided", relevant: false, magnitude: 5, evidence: { by: "hint" } },
    ]);
  });
});

test("every difference of an exact metric is significant, but not every difference is relevant", () => {
  const metrics = [size];

  const { cases } = compared({ metrics, ...both(1_000_000, 1_000_200, "size") });

  expect(cases).toMatchObject([
    {
      verdict: "regressed",
      significant: true,
      magnitude: 1,
      relevant: false,
      evidence: { exact: false },
    },
  ]);
  expect(compared({ metrics, ...both(5, 5, "size") }).cases[0]?.evidence).toMatchObject({
    exact: true,
  });
});

describe("machines", () => {
  const of = (...fingerprints: string[]) =>
    fingerprints.map((fingerprint, i) => measured({ instructions: 1_000 + i }, { fingerprint }));

  test("uses the newest machine that measured both sides", () => {
    const { cases } = compared({
      before: of("old", "mid", "new"),
      after: of("newest", "new", "mid"),
    });

    expect(cases).toMatchObject([{ fingerprint: "new", before: 1_002, after: 1_001 }]);
  });

  test("gives no verdict across different machines", () => {
    const { cases, summaries } = compared({ before: of("a"), after: of("b") });

    expect(cases).toMatchObject([
      { verdict: "unlike-machines", change: null, relevant: false, fingerprint: null },
    ]);
    expect(summaries).toMatchObject([{ unlikeMachines: 1, accumulated: null }]);
  });

  test("ignores a machine that measured the case but not the metric", () => {
    const { cases } = compared({
      before: of("a"),
      after: [measured({ other: 1 }, { fingerprint: "b" }), ...of("a")],
    });

    expect(cases).toMatchObject([{ fingerprint: "a" }]);
  });
});

describe("a missing case", () => {
  const other = aCase("lodash");
  const errors = {
    before: [],
    after: [{ benchmark: "lodash", case: caseKey(other), message: "it crashed" }],
  };

  test("is listed with the reason", () => {
    const { missing, cases } = compared({
      before: [measured({ instructions: 1 }), measured({ instructions: 1 }, { case: other })],
      after: [measured({ instructions: 1 })],
      errors,
    });

    expect(cases).toHaveLength(1);
    expect(missing).toEqual([{ case: other, missing: "after", error: "it crashed" }]);
  });

  test("can also be a missing metric, when one metric is requested", () => {
    const some = {
      metrics: [instructions, size],
      before: [measured({ size: 1 })],
      after: [measured({ size: 1, instructions: 1 })],
    };

    expect(compared({ ...some, metric: "instructions" }).missing).toMatchObject([
      { missing: "before", error: null },
    ]);
    expect(compared(some).missing).toEqual([]);
  });

  test("newly broken benchmarks failed after and not before; each is listed once", () => {
    const failed = (benchmark: string, message: string) => ({ benchmark, case: null, message });

    const { newlyBroken } = compared({
      errors: {
        before: [failed("a", "1")],
        after: [failed("a", "2"), failed("b", "3"), failed("b", "4")],
      },
    });

    expect(newlyBroken).toEqual([{ benchmark: "b", message: "3" }]);
  });
});

describe("noisy metrics", () => {
  const results = both(1, 1.1, "time");
  const noisy = { metrics: [time], ...results };

  test("without pairs get no verdict, however large the change", () => {
    const { cases, summaries } = compared({ ...noisy, pairs: [] });

    expect(cases).toMatchObject([
      { verdict: "undecided", relevant: false, evidence: { by: "hint" } },
    ]);
    expect(summaries).toMatchObject([{ direction: "none", undecided: 0 }]);
  });

  test("with pairs get a verdict that a rerun must confirm", () => {
    const { cases } = compared({ ...noisy, pairs: [pairedTimes(0.1)] });

    expect(cases).toMatchObject([
      {
        verdict: "regressed",
        relevant: true,
        evidence: { by: "pairs", pairs: 10, confirmed: null },
      },
    ]);
    expect(changesToConfirm(cases)).toEqual([{ case: aCase(), metric: "time" }]);
  });

  test("need no confirmation after a rerun", () => {
    for (const shift of [0.1, 0, -0.1]) {
      const rerun = pairedTimes(shift, { purpose: "confirm", seed: 2 });
      const { cases } = compared({ ...noisy, pairs: [pairedTimes(0.1), rerun] });

      expect(cases[0]?.verdict).toBe(shift === 0.1 ? "regressed" : "undecided");
      expect(changesToConfirm(cases)).toEqual([]);
    }
  });

  test("are judged by pairs even without results", () => {
    const { cases, missing } = compared({ metrics: [time], pairs: [pairedTimes(0.1)] });

    expect(cases).toMatchObject([
      { verdict: "regressed", fingerprint: "f1", collectors: { before: "c1" } },
    ]);
    expect(missing).toEqual([]);
  });

  test("prefer the pairs of the machine of the results", () => {
    const elsewhere = pairedTimes(0.1, { fingerprint: "f0" });

    expect(
      compared({ ...noisy, pairs: [elsewhere, pairedTimes(0, { spread: 0.001 })] }).cases,
    ).toMatchObject([{ fingerprint: "f1", verdict: "no-change" }]);
    expect(compared({ ...noisy, pairs: [elsewhere] }).cases).toMatchObject([{ fingerprint: "f0" }]);
  });

  test("use the variation of equal artifacts as the limit", () => {
    const { cases } = compared({ ...noisy, pairs: [pairedTimes(0.1)], limitOf: () => 0.2 });

    expect(cases).toMatchObject([{ verdict: "no-change", evidence: { limit: 0.2 } }]);
  });

  test("must be significant among all judged cases; an unconfirmed change stays unconfirmed", () => {
    // The least p-value of ten pairs, .008: it passes the gate alone, but here it is one of two hundred cases.
    const pairs = Array.from({ length: 10 }, (_, i) => 1 + ((i * 3) % 10) / 100).map(
      (figure, i) => ({
        child: { time: figure + 0.055 },
        parent: { time: figure },
        parentFirst: i % 2 === 0,
      }),
    );
    const lone = { ...pairedTimes(0), pairs, case: aCase("lone") };
    const quiet = Array.from({ length: 200 }, (_, i) => ({
      ...pairedTimes(0, { seed: i + 10 }),
      case: aCase(`quiet${i}`),
    }));
    const alone = compared({ metrics: [time], pairs: [lone] }).cases[0];
    const among = compared({ metrics: [time], pairs: [lone, ...quiet] }).cases[0];

    expect(alone).toMatchObject({ verdict: "regressed" });
    expect(among).toMatchObject({ verdict: "undecided", relevant: false });
    expect(among?.warnings.join()).toContain("not significant after adjustment");
    expect(changesToConfirm(among === undefined ? [] : [among])).toHaveLength(1);
  });
});

describe("summaries", () => {
  const cases = [
    { benchmark: "a", before: 100, after: 200 },
    { benchmark: "b", before: 100, after: 50 },
    { benchmark: "c", before: 0, after: 5 },
    { benchmark: "d", before: 100, after: 100 },
  ];
  const given = (which: "before" | "after") =>
    cases.map((each) => measured({ instructions: each[which] }, { case: aCase(each.benchmark) }));

  test("contain the geometric mean beside the arithmetic mean, and count changes without a ratio", () => {
    const { summaries } = compared({
      before: given("before"),
      after: given("after"),
      categoryOf: ({ benchmark }) => (benchmark === "c" ? "secondary" : "primary"),
    });

    expect(summaries).toMatchObject([
      {
        direction: "mixed",
        deservesAttention: true,
        primary: {
          direction: "mixed",
          all: { count: 2, arithmeticMean: 0.25, least: -0.5, most: 1 },
          regressions: { count: 1, benchmarks: 1, arithmeticMean: 1 },
        },
        secondary: {
          direction: "regression",
          all: { count: 1, arithmeticMean: null, geometricMean: null },
        },
      },
    ]);
    expect(summaries[0]?.primary.all.geometricMean).toBeCloseTo(0, 12);
    expect(summaries[0]?.accumulated).toBeCloseTo(355 / 300 - 1, 12);
  });

  test("cover all metrics, even when cases of one metric are requested", () => {
    const { summaries, cases: listed } = compared({
      metrics: [instructions, size],
      metric: "size",
      before: [measured({ instructions: 1, size: 2 })],
      after: [measured({ instructions: 1, size: 2 })],
    });

    expect(summaries.map(({ metric }) => metric)).toEqual(["instructions", "size"]);
    expect(listed.map(({ metric }) => metric)).toEqual(["size"]);
  });
});

test("700 cases of three metrics are compared in less than 50 ms", () => {
  const given = (factor: number) =>
    Array.from({ length: 700 }, (_, i) =>
      measured(
        { instructions: 1e9 + i * factor * 1e5, size: 1_000 + i, memory: 5 },
        { case: aCase(`b${i}`) },
      ),
    );
  const history = Array.from({ length: 30 }, (_, i) => 1e9 + ((i * 7_919) % 1_000) * 100);
  const input = toCompare({
    metrics: [instructions, size, { ...instructions, name: "memory" }],
    before: given(1),
    after: given(2),
    historyOf: () => history,
  });
  compareArtifacts(input);
  const runs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    compareArtifacts(input);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });

  expect(Math.min(...runs)).toBeLessThan(50);
});

test("summaries are the same for a request of one metric and of all metrics", () => {
  const metrics = [instructions, size, time, { ...instructions, name: "aside", decides: false }];
  const values = (n: number, factor: number) => ({
    instructions: 1_000 * n * factor,
    size: 10 + (factor === 1 ? 0 : n % 3),
    time: n * factor,
    aside: n,
  });
  const side = (factor: (n: number) => number) =>
    Array.from({ length: 12 }, (_, n) =>
      measured(values(n, factor(n)), {
        case: aCase(`b${n}`),
        fingerprint: n === 11 ? `of ${factor(n)}` : "f1",
      }),
    );
  const input = {
    metrics,
    before: side(() => 1),
    // No change, one far below the smallest threshold, one just above it, and a large one.
    after: [...side((n) => [1, 1.0001, 1.0021, 1.2][n % 4] ?? 1), measured({ size: 3 })],
    pairs: [{ ...pairedTimes(0.2), case: aCase("b3") }],
  };
  const all = compared(input).summaries;

  for (const { name } of metrics) {
    const { summaries } = compared({ ...input, metric: name });
    expect(summaries.map(rounded)).toEqual(all.map(rounded));
  }
  expect(all.map(({ metric }) => metric)).toEqual(["instructions", "size", "time", "aside"]);
});

/** Sums in another order differ in their last digits. */
function rounded(summary: MetricSummary): MetricSummary {
  const { accumulated } = summary;
  return { ...summary, accumulated: accumulated === null ? null : Number(accumulated.toFixed(12)) };
}
