import { expect, test } from "vitest";
import { defaultSettings } from "../settings.ts";
import { adrStrategy } from "./adr.ts";
import {
  aFullHistory,
  anEndedRun,
  aSituation,
  failed,
  succeededIn,
  timedOutAfter,
} from "./baseline.fixture.ts";

const adr = adrStrategy(defaultSettings);
const aMinute = succeededIn(60_000);

test("a new action is tried on the smallest class within the minimum acceptable time", () => {
  const choice = adr.choose(aSituation());

  expect(choice).toMatchObject({
    sizeClass: 1,
    timeoutMs: 15_000,
    expectedMs: 15_000,
    isExact: true,
  });
  expect(choice.reason).toEqual({
    kind: "exploring",
    text: "No run on class 1 shows yet whether it stays within the acceptable 10 s, so it is tried there for 15 s. There is no data about the largest class yet.",
  });
});

test("chooses the smallest class with the share of its runs that were within the acceptable time", () => {
  const runs = {
    1: [...aFullHistory(() => 100_000).slice(2), failed, succeededIn(170_000)],
    8: [aMinute],
  };

  const choice = adr.choose(aSituation(runs, { draw: 0.9374 }));

  expect(choice.sizeClass).toBe(1);
  expect(choice.timeoutMs).toBeCloseTo(254_558.4, 1);
  expect(choice.expectedMs).toBe(100_000);
  expect(choice.reason).toEqual({
    kind: "drawn",
    text: "Drawn with 93.8 %: in 32 runs on class 1, 30 were within the acceptable 169.7 s.",
  });
  expect(choice.alternatives.map(({ probability }) => probability)).toEqual([
    30 / 32,
    2 / 32,
    0,
    0,
  ]);
  expect(choice.alternatives.map(({ risk }) => risk)).toEqual([2 / 32, null, null, 0]);
  expect(adr.choose(aSituation(runs, { draw: 0.9376 })).sizeClass).toBe(2);
});

test("considers the next class when a smaller one always failed", () => {
  const runs = { 1: [failed], 2: [failed], 4: [failed], 8: [aMinute] };

  const choice = adr.choose(aSituation(runs, { draw: 0 }));

  expect(choice).toMatchObject({ sizeClass: 8, timeoutMs: 1_800_000, expectedMs: 60_000 });
  expect(choice.reason.text).toBe(
    "Class 8 is left with 100 %: in 1 run on class 1, 0 were within the acceptable 169.7 s; in 1 run on class 2, 0 were within the acceptable 120 s; in 1 run on class 4, 0 were within the acceptable 84.9 s.",
  );
});

test("a shortened first run does not exclude a class once the acceptable time is known", () => {
  const runs = { 1: [timedOutAfter(15_000)], 8: [aMinute] };

  expect(adr.choose(aSituation(runs)).sizeClass).toBe(1);
});

test("a fast action gets the minimum acceptable time, with the multiplier", () => {
  const choice = adr.choose(aSituation({ 1: [succeededIn(75)], 8: [succeededIn(25)] }));

  expect(choice).toMatchObject({ sizeClass: 1, timeoutMs: 15_000 });
});

test("never allows more than the requested time", () => {
  const choice = adr.choose(aSituation({ 8: [aMinute] }, { timeoutMs: 20_000 }));

  expect(choice).toMatchObject({ sizeClass: 1, timeoutMs: 20_000 });
});

test("an action that failed on the largest class runs only there for a day", () => {
  const { now } = aSituation();
  const lately = aSituation({ 1: [aMinute] }, { lastFailureAt: now - 86_400_000 });
  const before = aSituation({ 1: [aMinute] }, { lastFailureAt: now - 86_400_001 });

  expect(adr.choose(lately)).toMatchObject({
    sizeClass: 8,
    timeoutMs: 1_800_000,
    reason: { kind: "failed-lately" },
  });
  expect(adr.choose(before).reason.kind).not.toBe("failed-lately");
});

test("uses only the action's own outcomes", () => {
  const own = aSituation();
  const like = aSituation({ 1: [failed, failed], 8: [aMinute] });

  const choice = adr.choose({ ...own, histories: [...own.histories, ...like.histories] });

  expect(choice).toEqual(adr.choose(own));
  expect(adr.choose({ ...own, histories: [] }).sizeClass).toBe(1);
});

test("a run that fails on a smaller class goes to the largest, with the requested timeout", () => {
  const situation = aSituation();
  const first = adr.choose(situation);

  const next = adr.afterwards(situation, first, [anEndedRun("timed_out", { durationMs: 15_000 })]);

  expect(next).toMatchObject({
    kind: "again",
    choice: { sizeClass: 8, timeoutMs: 1_800_000, reason: { kind: "retry-after-timeout" } },
  });
});
