import { expect, test } from "vitest";
import { defaultSettings } from "../settings.ts";
import {
  aFullHistory,
  anEndedRun,
  aSituation,
  failed,
  neverSucceeds,
  succeededIn,
  timedOutAfter,
} from "./baseline.fixture.ts";
import { pagerankStrategy } from "./pagerank.ts";
import { transitions } from "./pagerank-comparison.ts";
import { planOf } from "./pagerank-plan.ts";
import { powerIteration } from "./power-iteration.ts";

const pagerank = pagerankStrategy(defaultSettings);
const aboutAMinute = (place: number) => 60_000 + place * 100;
const second = [succeededIn(1_000)];

test("Buildbarn's figure: four classes, two of them hopeless, get 0.8, 0.8, 95.3 and 3.2 %", () => {
  const winner = aFullHistory(aboutAMinute);

  const plan = ranked({ 1: neverSucceeds, 2: neverSucceeds, 4: winner, 8: winner });

  expect(plan.probabilities.map((p) => (p * 100).toFixed(1))).toEqual([
    "0.8",
    "0.8",
    "95.3",
    "3.2",
  ]);
});

test("Buildbarn's figure: two classes converge in two steps, with 1.56 % for the slower", () => {
  const runs = { 1: aFullHistory(aboutAMinute), 8: aFullHistory(aboutAMinute) };

  const plan = ranked(runs, [1, 8]);

  expect(plan.steps).toBe(2);
  // The probability of the smaller class is the probability that it is faster.
  expect(plan.probabilities[0]).toBeCloseTo(1 - 33 / 2114, 15);
  expect(((plan.probabilities[1] ?? 0) * 100).toFixed(2)).toBe("1.56");
});

test("Buildbarn's figure: a single-threaded action costs 11 % more for exploring class 8", () => {
  const plan = ranked({ 1: aFullHistory(aboutAMinute), 8: aFullHistory(aboutAMinute) }, [1, 8]);
  const [small = 0, large = 0] = plan.probabilities;

  expect(Math.round((small * 1 + large * 8 - 1) * 100)).toBe(11);
});

test("Buildbarn's figure: equal normalised times get equal probabilities", () => {
  const same = { successesMs: [1, 2, 3], failures: 0 };

  expect(powerIteration(transitions([same, same]), [0.5, 0.5], 0.002).probabilities).toEqual([
    0.5, 0.5,
  ]);
});

test("among times as acceptable as the largest's, those above its median count as failures", () => {
  // With x = 0.5 class 4 may take twice as long as class 16; these numbers are exact.
  const plan = ranked(
    { 4: aFullHistory((i) => 2 * aboutAMinute(i)), 16: aFullHistory(aboutAMinute) },
    [4, 16],
  );

  expect(plan.smaller[0]?.outcomes).toMatchObject({ failures: 16 });
  // 16 equal pairs, and each of the 16 successes before all later ones: 1 + 32 + 16 + 2 · 376 of 2114.
  expect(plan.probabilities[0]).toBeCloseTo(801 / 2114, 12);
});

test("Buildbarn's figure: one success on the smallest and the largest class", () => {
  const plan = ranked({ 1: second, 8: second });

  expect(plan.probabilities.map((p) => p.toFixed(2))).toEqual(["0.19", "0.33", "0.33", "0.14"]);
});

test.each([
  { tried: [], sizeClass: 1, timeoutMs: 10_000 },
  { tried: [1], sizeClass: 2, timeoutMs: 10_000 },
  { tried: [1, 2], sizeClass: 4, timeoutMs: 10_000 },
  { tried: [2, 4], sizeClass: 1, timeoutMs: 10_000 },
  { tried: [1, 2, 4], sizeClass: 8, timeoutMs: 1_800_000 },
])("before any success on class 8, with outcomes on $tried, class $sizeClass is next", (row) => {
  const runs = Object.fromEntries(row.tried.map((sizeClass) => [sizeClass, [failed]]));

  const choice = pagerank.choose(aSituation(runs));

  expect(choice).toMatchObject({
    sizeClass: row.sizeClass,
    timeoutMs: row.timeoutMs,
    backgroundSizeClass: undefined,
    pageRank: undefined,
    reason: { kind: "exploring" },
  });
});

test("the first run takes no longer than the requested time", () => {
  expect(pagerank.choose(aSituation({}, { timeoutMs: 3_000 })).timeoutMs).toBe(3_000);
});

test("probes the next class in the background when the smallest fails", () => {
  const choice = pagerank.choose(aSituation({ 1: [failed], 8: second }));

  expect(choice).toMatchObject({ sizeClass: 8, timeoutMs: 1_800_000, backgroundSizeClass: 2 });
  expect(choice.reason.text).toBe(
    "Nothing is known of class 2, and it probably fails on the class below: it runs on class 8, and after success on class 2 in the background.",
  );
});

test("probes the smallest class when the first run was too short to be conclusive", () => {
  const runs = { 1: [timedOutAfter(10_000)], 8: [succeededIn(60_000)] };

  expect(pagerank.choose(aSituation(runs))).toMatchObject({ sizeClass: 8, backgroundSizeClass: 1 });
});

test("a class without outcomes above one that mostly succeeds is chosen in the foreground", () => {
  const choice = pagerank.choose(aSituation({ 1: second, 8: second }, { draw: 0.3 }));

  expect(choice).toMatchObject({ sizeClass: 2, timeoutMs: 10_000, backgroundSizeClass: undefined });
});

test("a class that mostly fails runs after the largest", () => {
  const winner = aFullHistory(aboutAMinute);
  const runs = { 1: neverSucceeds, 2: neverSucceeds, 4: winner, 8: winner };

  const choice = pagerank.choose(aSituation(runs, { draw: 0.01 }));

  expect(choice).toMatchObject({ sizeClass: 8, timeoutMs: 1_800_000, backgroundSizeClass: 2 });
  expect(choice.reason.text).toBe(
    "Class 2 was drawn with 0.8 %, but of 32 outcomes there, 0 were below the acceptable 123.1 s: it runs on class 8, and after success on class 2 in the background.",
  );
});

test("uses its draw to walk down the probabilities", () => {
  const winner = aFullHistory(aboutAMinute);
  const runs = { 1: winner, 8: winner };
  const at = (draw: number) => pagerank.choose(aSituation(runs, { draw, sizeClasses: [1, 8] }));
  const edge = 1 - 33 / 2114;

  expect(at(0).sizeClass).toBe(1);
  expect(at(edge - 1e-9)).toMatchObject({ sizeClass: 1, expectedMs: 61_550 });
  expect(at(edge - 1e-9).timeoutMs).toBeCloseTo(61_550 * Math.sqrt(8) * 1.5, 6);
  expect(at(edge + 1e-9)).toMatchObject({ sizeClass: 8, backgroundSizeClass: undefined });
});

test("stores the result of the iteration, and continues from there", () => {
  const winner = aFullHistory(aboutAMinute);
  const runs = { 1: neverSucceeds, 2: neverSucceeds, 4: winner, 8: winner };
  const cold = ranked(runs);
  const { pageRank } = pagerank.choose(aSituation(runs));
  if (pageRank === undefined) throw new Error("nothing to remember");

  const warm = planOf(aSituation(runs, { pageRank }), defaultSettings);

  expect([...pageRank.keys()]).toEqual([1, 2, 4, 8]);
  expect([...pageRank.values()]).toEqual(cold.probabilities);
  expect(warm).toMatchObject({ kind: "ranked", steps: 1 });
  expect(cold.steps).toBe(13);
});

test("after a success on the largest class, the background run's timeout uses the newest median", () => {
  const situation = aSituation({ 1: [failed], 8: [succeededIn(20_000)] });
  const first = pagerank.choose(situation);

  const next = pagerank.afterwards(situation, first, [
    anEndedRun("succeeded", { sizeClass: 8, durationMs: 40_000 }),
  ]);

  // The median is now 30 s: 30 s · 2 · 1.5 on class 2.
  expect(next).toEqual({
    kind: "final",
    background: { sizeClass: 2, timeoutMs: 90_000, expectedMs: 90_000 },
  });
});

test.each([
  { what: "a failure", runs: [anEndedRun("failed", { sizeClass: 8 })], sizeClasses: [1, 2, 4, 8] },
  {
    what: "a success when the class no longer exists",
    runs: [anEndedRun("succeeded", { sizeClass: 8 })],
    sizeClasses: [1, 4, 8],
  },
])("nothing runs in the background after $what", ({ runs, sizeClasses }) => {
  const situation = aSituation({ 1: [failed], 8: second });
  const first = pagerank.choose(situation);

  const next = pagerank.afterwards(aSituation({ 8: second }, { sizeClasses }), first, runs);

  expect(next).toEqual({ kind: "final" });
});

test("a failure on the largest class boosts the key for a day, even after a success", () => {
  const { now } = aSituation();

  const choice = pagerank.choose(
    aSituation({ 1: second, 8: second }, { lastFailureAt: now - 1_000 }),
  );

  expect(choice).toMatchObject({ sizeClass: 8, reason: { kind: "failed-lately" } });
  expect(choice.reason.text).toBe(
    "It failed on the largest class 1 s ago; for 24 h after that it runs on class 8 only.",
  );
});

function ranked(runs: Parameters<typeof aSituation>[0], sizeClasses = [1, 2, 4, 8]) {
  const plan = planOf(aSituation(runs, { sizeClasses }), defaultSettings);
  if (plan.kind !== "ranked") throw new Error(`the plan is ${plan.kind}`);
  return plan;
}
