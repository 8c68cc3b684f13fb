import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runEnds } from "../past-run.ts";
import { defaultSettings } from "../settings.ts";
import type { Situation, Strategy } from "../strategy.ts";
import { adrStrategy } from "./adr.ts";
import { anEndedRun, aSituation } from "./baseline.fixture.ts";
import { largestStrategy } from "./largest.ts";
import { pagerankStrategy } from "./pagerank.ts";
import { smallestStrategy } from "./smallest.ts";

const baselines: readonly Strategy[] = [
  smallestStrategy,
  largestStrategy,
  adrStrategy(defaultSettings),
  pagerankStrategy(defaultSettings),
];

const pastRun = fc.record({
  end: fc.constantFrom(...runEnds),
  // A few different values, including zero.
  durationMs: fc.constantFrom(0, 50, 1_000, 9_999, 60_000, 60_000.5, 3_600_000),
  timeoutMs: fc.constantFrom(1, 10_000, 90_000, 1_800_000),
  at: fc.constant(0),
});

const situation: fc.Arbitrary<Situation> = fc
  .record({
    sizeClasses: fc
      .uniqueArray(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 6 })
      .map((sizeClasses) => sizeClasses.toSorted((a, b) => a - b)),
    runs: fc.dictionary(
      fc.integer({ min: 1, max: 64 }).map(String),
      fc.array(pastRun, { maxLength: 32 }),
    ),
    changes: fc.record({
      draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      timeoutMs: fc.constantFrom(1, 5_000, 60_000, 1_800_000),
    }),
    pageRank: fc.array(fc.tuple(fc.integer({ min: 1, max: 64 }), fc.double())),
    ago: fc.option(fc.integer({ min: -1_000, max: 2 * 86_400_000 }), { nil: undefined }),
  })
  .map(({ sizeClasses, runs, changes, pageRank, ago }) =>
    aSituation(runs, {
      ...changes,
      sizeClasses,
      pageRank: new Map(pageRank),
      ...(ago === undefined ? {} : { lastFailureAt: aSituation().now - ago }),
    }),
  );

describe.each(baselines)("strategy $name", (strategy) => {
  test("chooses an offered class, for at most the requested time, with probabilities that sum to 1", () => {
    fc.assert(
      fc.property(situation, (at) => {
        const choice = strategy.choose(at);
        const offered = at.classes.map(({ sizeClass }) => sizeClass);

        expect(offered).toContain(choice.sizeClass);
        expect(choice.timeoutMs).toBeGreaterThan(0);
        expect(choice.timeoutMs).toBeLessThanOrEqual(at.timeoutMs);
        expect(choice.expectedMs).toBeLessThanOrEqual(choice.timeoutMs);
        expect(choice.isExact).toBe(true);
        expect(choice.hedge).toBeUndefined();
        // A later background run starts on the largest class.
        const { backgroundSizeClass: later = offered[0] } = choice;
        expect(offered).toContain(later);
        expect(
          choice.backgroundSizeClass === undefined || choice.sizeClass === offered.at(-1),
        ).toBe(true);
        expect(choice.alternatives.map(({ sizeClass }) => sizeClass)).toEqual(offered);
        const drawn = choice.alternatives.flatMap(({ probability }) => probability ?? []);
        const isDrawn = drawn.length > 0;
        expect(drawn.reduce((sum, each) => sum + each, isDrawn ? 0 : 1)).toBeCloseTo(1, 9);
      }),
      { numRuns: 500 },
    );
  });

  test("chooses the same in the same situation", () => {
    fc.assert(
      fc.property(situation, (at) => {
        expect(strategy.choose(structuredClone(at))).toEqual(strategy.choose(at));
      }),
    );
  });

  test("does not depend on the order of outcomes or classes", () => {
    fc.assert(
      fc.property(situation, (at) => {
        const backwards = at.histories.map((history) => ({
          ...history,
          runs: new Map([...history.runs].toReversed().map(([k, runs]) => [k, runs.toReversed()])),
        }));

        expect(strategy.choose({ ...at, histories: backwards })).toEqual(strategy.choose(at));
      }),
    );
  });

  test("chooses also without any data", () => {
    expect(strategy.choose({ ...aSituation(), histories: [] }).alternatives).toHaveLength(4);
  });

  test("an only class gets everything, with all the time", () => {
    const choice = strategy.choose(aSituation({}, { sizeClasses: [2] }));

    expect(choice).toMatchObject({
      sizeClass: 2,
      timeoutMs: 1_800_000,
      reason: { kind: "only-class" },
    });
  });

  test.each([
    { end: "failed", kind: "retry-after-failure" },
    { end: "timed_out", kind: "retry-after-timeout" },
    { end: "out_of_memory", kind: "retry-after-out-of-memory" },
  ] as const)("what $end on a smaller class is run on the largest", ({ end, kind }) => {
    const at = aSituation();

    const next = strategy.afterwards(at, strategy.choose(at), [anEndedRun(end, { sizeClass: 2 })]);

    expect(next).toMatchObject({
      kind: "again",
      choice: { sizeClass: 8, timeoutMs: at.timeoutMs, isExact: true, reason: { kind } },
    });
  });

  test.each(["failed", "timed_out", "out_of_memory", "succeeded"] as const)(
    "what %s on the largest class is final",
    (end) => {
      const at = aSituation();

      const next = strategy.afterwards(at, strategy.choose(at), [
        anEndedRun("failed"),
        anEndedRun(end, { sizeClass: 8 }),
      ]);

      expect(next).toEqual({ kind: "final" });
    },
  );

  test("a run of a lost worker is repeated on the same class with the same timeout", () => {
    const at = aSituation();
    const lost = anEndedRun("lost", { sizeClass: 2 });

    const next = strategy.afterwards(at, strategy.choose(at), [lost]);

    expect(next).toMatchObject({
      kind: "again",
      choice: { sizeClass: 2, timeoutMs: 15_000, reason: { kind: "retry-after-lost-worker" } },
    });
  });

  test("a run of a lost worker uses the next class when its own no longer exists", () => {
    const at = aSituation({}, { sizeClasses: [1, 4, 8] });

    const next = strategy.afterwards(at, strategy.choose(at), [
      anEndedRun("lost", { sizeClass: 2 }),
    ]);

    expect(next).toMatchObject({ kind: "again", choice: { sizeClass: 4 } });
  });
});

test.each([
  { strategy: smallestStrategy, sizeClass: 1 },
  { strategy: largestStrategy, sizeClass: 8 },
])("strategy $strategy.name always chooses class $sizeClass, with all the time", (row) => {
  const choice = row.strategy.choose(aSituation());

  expect(choice).toMatchObject({
    sizeClass: row.sizeClass,
    timeoutMs: 1_800_000,
    reason: { kind: "fixed" },
  });
});
