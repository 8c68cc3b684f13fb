import { expect, test } from "vitest";
import {
  ended,
  GiB,
  history,
  ran,
  seedClasses,
  situation,
  times,
  type Work,
} from "../estimate/runs.fixture.ts";
import { defaultSettings, SizeClassSettings } from "../settings.ts";
import { grangeStrategy } from "./grange.ts";

const grange = grangeStrategy(defaultSettings);
const hour = 3_600_000;
const serial: Work = { serialMs: 20_000 };
const parallel: Work = { serialMs: 400, parallelMs: 39_600, width: 32 };

/** Waits by class; by default none. */
function waiting(waits: Readonly<Record<number, number>>) {
  return seedClasses.map((each) => ({ ...each, waitMs: waits[each.sizeClass] ?? 0 }));
}

test("without data, it starts on the smallest class", () => {
  const choice = grange.choose(situation());

  expect(choice.sizeClass).toBe(1);
  expect(choice.reason.text).toMatch(/^It takes about .* without data about it; class 2 would /);
});

test("an only class is chosen, and gets all the time", () => {
  const choice = grange.choose(situation([], { classes: seedClasses.slice(2, 3) }));

  expect(choice).toMatchObject({ sizeClass: 4, timeoutMs: hour, reason: { kind: "only-class" } });
});

test.each([
  { name: "serial", work: serial, on: 8, expected: 1 },
  { name: "parallel", work: parallel, on: 8, expected: 8 },
  {
    name: "parallel up to two CPUs",
    work: { serialMs: 0, parallelMs: 30_000, width: 2 },
    on: 8,
    expected: 2,
  },
  { name: "hungry", work: { serialMs: 20_000, peakMemoryBytes: 10 * GiB }, on: 8, expected: 4 },
])(
  "after one run on class $on, what is $name runs on class $expected",
  ({ work, on, expected }) => {
    expect(grange.choose(situation([history("action", [ran(work, on, 1)])])).sizeClass).toBe(
      expected,
    );
  },
);

test("with free waiting, it chooses the cheapest class, even for parallel work", () => {
  const patient = grangeStrategy(SizeClassSettings.parse({ priceOfDelay: 0 }));
  const some: Work = { serialMs: 10_000, parallelMs: 30_000, width: 8 };

  expect(patient.choose(situation([history("action", [ran(some, 8, 1)])])).sizeClass).toBe(1);
});

test("a long queue moves a short action to another class", () => {
  const known = [history("action", times(5, { serialMs: 2_000 }, 2))];

  expect(grange.choose(situation(known)).sizeClass).toBe(1);
  expect(grange.choose(situation(known, { classes: waiting({ 1: 60_000 }) })).sizeClass).toBe(2);
});

test("an action that often ran on one CPU is tried on more, with the cost and the possible saving", () => {
  const seldom = grange.choose(situation([history("action", times(1, serial, 1))]));
  const often = grange.choose(situation([history("action", times(30, serial, 1))]));

  expect(seldom.sizeClass).toBe(1);
  expect(often.sizeClass).toBeGreaterThan(1);
  expect(often.reason.kind).toBe("exploring");
  expect(often.reason.text).toMatch(
    /^To see how it runs on class \d costs .* more than class 1, and may save .* in the 30 executions to be expected, from 30 runs of it\.$/,
  );
});

test("an unsuccessful try on more CPUs is not repeated", () => {
  const known = history("action", [...times(28, serial, 1), ran(serial, 2, 40)]);

  expect(grange.choose(situation([known]))).toMatchObject({
    sizeClass: 1,
    reason: { kind: "cheapest" },
  });
});

const hungry = (number: number) => [
  ended("out_of_memory", 1, number, { durationMs: 6_000, peakMemoryBytes: 4 * GiB }),
  ran({ serialMs: 20_000, peakMemoryBytes: 26 * GiB }, 8, number + 0.5),
];

test("an action that runs out of memory each time is moved to a sufficient class", () => {
  const choice = grange.choose(situation([history("action", [...hungry(1), ...hungry(3)])]));

  expect(choice.sizeClass).toBe(8);
  expect(choice.alternatives[0]?.risk).toBeGreaterThan(0.9);
  expect(choice.alternatives[0]?.remark).toMatch(/^runs out of memory with .*; it did so 2 times$/);
});

test("one run out of memory costs at most one run on a much more expensive class", () => {
  const usual = times(18, { serialMs: 20_000, peakMemoryBytes: GiB }, 1);

  const later = history("action", [
    ...usual,
    ...hungry(20),
    ran({ serialMs: 20_000, peakMemoryBytes: GiB }, 8, 22),
  ]);

  expect(grange.choose(situation([later])).sizeClass).toBe(1);
});

test("with alternating heavy parallel and light serial work, it does not follow the last run", () => {
  const rounds = Array.from({ length: 6 }, (_, round) => [
    ...times(2, parallel, 8, 1 + 5 * round),
    ...times(3, { serialMs: 2_000 }, 2, 3 + 5 * round),
  ]).flat();

  const chosen = [0, 1, 2, 3, 4].map(
    (less) =>
      grange.choose(situation([history("action", rounds.slice(0, rounds.length - less))]))
        .sizeClass,
  );

  // A large class saves minutes of the heavy runs, and a small one saves little of the light ones.
  for (const sizeClass of chosen) expect(sizeClass).toBeGreaterThanOrEqual(4);
});

test("alternatives contain time, range, cost and risk of each class", () => {
  const { alternatives } = grange.choose(situation([history("action", times(5, serial, 8))]));

  expect(alternatives.map(({ sizeClass }) => sizeClass)).toEqual([1, 2, 4, 8]);
  for (const { expectedMs, bandMs, cost, risk } of alternatives) {
    expect(bandMs?.[0]).toBeLessThan(expectedMs ?? 0);
    expect(bandMs?.[1]).toBeGreaterThan(expectedMs ?? 0);
    expect(risk).toBeLessThan(0.01);
    expect(cost).toBeGreaterThan(0);
  }
  // 20 s at price 1, and 20 s of waiting at 3; the estimate is slightly higher.
  expect(alternatives[0]?.cost).toBeGreaterThan(80);
  expect(alternatives[0]?.cost).toBeLessThan(90);
});

test("a smaller class gets several times the expected time, and the last class all of the requested time", () => {
  const parallelSome: Work = { serialMs: 30_000, parallelMs: 20_000, width: 4 };
  const known = [history("action", times(8, parallelSome, 2))];

  const lesser = grange.choose(situation(known));
  const last = grange.choose(situation(known, { classes: seedClasses.slice(0, 1) }));

  expect(lesser.timeoutMs).toBeGreaterThanOrEqual(4 * lesser.expectedMs);
  expect(last.timeoutMs).toBe(hour);
});

test("a run that more CPUs do not help is never stopped early", () => {
  expect(grange.choose(situation([history("action", times(5, serial, 8))])).timeoutMs).toBe(hour);
});

/** Runs with varying times, none much longer than the others. */
function varying(count: number, longEach = Number.POSITIVE_INFINITY) {
  return Array.from({ length: count }, (_, i) => {
    const factor = i % longEach === longEach - 1 ? 12 : [0.55, 1, 1.8][i % 3];
    return ran({ serialMs: 20_000 * (factor ?? 1) }, 2, i + 1);
  });
}

test("an action that is later than all but one in a thousand gets a second run", () => {
  const choice = grange.choose(situation([history("action", varying(12))]));

  expect(choice.hedge?.sizeClass).toBe(2);
  expect(choice.hedge?.afterMs).toBeGreaterThan(1.5 * choice.expectedMs);
});

test("second runs stop when late runs have ended by themselves", () => {
  const choice = grange.choose(situation([history("action", varying(30, 10))]));

  expect(choice.hedge).toBeUndefined();
});

test("no second run starts when it costs more than it may save", () => {
  const patient = grangeStrategy(SizeClassSettings.parse({ priceOfDelay: 0.1 }));

  expect(
    patient.choose(situation([history("action", times(10, serial, 2))])).hedge,
  ).toBeUndefined();
});

test("an action that failed on the largest class recently runs there at once, until a success or for a day", () => {
  const now = 1_700_000_000_000;
  const failing = { ...history("action", []), lastFailureAt: now - 60_000, failuresInARow: 2 };
  const at = (own: typeof failing, later = now) =>
    grange.choose({ ...situation([own]), now: later });

  expect(at(failing)).toMatchObject({ sizeClass: 8, reason: { kind: "failed-lately" } });
  expect(at(failing).reason.text).toContain("2 times in a row");
  expect(at({ ...failing, failuresInARow: 0 }).sizeClass).toBe(1);
  expect(at(failing, now + 25 * hour).sizeClass).toBe(1);
});
