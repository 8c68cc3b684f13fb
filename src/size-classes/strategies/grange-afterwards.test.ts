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
import type { KeyHistory } from "../key-history.ts";
import { defaultSettings } from "../settings.ts";
import type { EndedRun, Next } from "../strategy.ts";
import { grangeStrategy } from "./grange.ts";

const grange = grangeStrategy(defaultSettings);
const hour = 3_600_000;
const serial: Work = { serialMs: 20_000 };
const parallel: Work = { serialMs: 2_000, parallelMs: 38_000, width: 32 };

function run(end: EndedRun["end"], changes: Partial<EndedRun> = {}): EndedRun {
  const used = { cpuMs: 4_000, peakMemoryBytes: 100e6, exitCode: 1 };
  return { sizeClass: 1, end, durationMs: 4_000, timeoutMs: hour, ...used, ...changes };
}

function after(histories: readonly KeyHistory[], ...runs: readonly EndedRun[]): Next {
  const here = situation(histories);
  return grange.afterwards(here, grange.choose(here), runs);
}

/** Returns the class of the next run, or undefined. */
function classAfter(histories: readonly KeyHistory[], ...runs: readonly EndedRun[]) {
  const next = after(histories, ...runs);
  return next.kind === "again" ? next.choice.sizeClass : next.kind;
}

const knownSerial = [history("action", times(5, serial, 2))];
const knownParallel = [history("action", times(5, parallel, 8))];

/** Its kind and all others use one CPU on any class. */
const serialKind = (["mnemonic", "platform"] as const).map((level) =>
  history(level, [...times(32, serial, 2), ...times(32, serial, 4)]),
);

// When 4 GiB are too little, half need over 8 and a quarter over 16: class 4 is cheaper than possibly both 2 and 4.
test.each([
  { name: "a success", known: [], last: run("succeeded"), expected: "final" },
  {
    name: "a failure on the greatest class",
    known: [],
    last: run("failed", { sizeClass: 8 }),
    expected: "final",
  },
  {
    name: "out of memory on the greatest class",
    known: [],
    last: run("out_of_memory", { sizeClass: 8 }),
    expected: "final",
  },
  {
    name: "a failure sooner than it ever succeeded",
    known: knownSerial,
    last: run("failed"),
    expected: "final",
  },
  {
    name: "a failure that used one CPU of two",
    known: knownParallel,
    last: run("failed", { sizeClass: 2, durationMs: 90_000, cpuMs: 90_000 }),
    expected: "final",
  },
  {
    name: "a failure of a new action of a serial kind",
    known: serialKind,
    last: run("failed"),
    expected: "final",
  },
  { name: "a failure of an unknown action", known: [], last: run("failed"), expected: 8 },
  {
    name: "a failure later than it ever succeeded",
    known: knownParallel,
    last: run("failed", { durationMs: 40_000, cpuMs: 40_000 }),
    expected: 8,
  },
  {
    name: "a failure of unknown peak",
    known: knownSerial,
    last: run("failed", { peakMemoryBytes: undefined }),
    expected: 8,
  },
  {
    name: "a failure with most memory in use",
    known: knownSerial,
    last: run("failed", { peakMemoryBytes: 3.8 * GiB }),
    expected: 4,
  },
  {
    name: "out of memory",
    known: knownSerial,
    last: run("out_of_memory", { peakMemoryBytes: 4 * GiB }),
    expected: 4,
  },
  {
    name: "a time-out of all its time",
    known: knownSerial,
    last: run("timed_out", { durationMs: hour }),
    expected: 8,
  },
  {
    name: "a lost worker, with memory known to be enough",
    known: knownSerial,
    last: run("lost"),
    expected: 1,
  },
  { name: "a lost worker, with memory unknown", known: [], last: run("lost"), expected: 2 },
])("after $name: $expected", ({ known, last, expected }) => {
  expect(classAfter(known, last)).toBe(expected);
});

test("out of memory skips a class on which twice as much was too little", () => {
  const known = history("action", [ended("out_of_memory", 2, 1, { peakMemoryBytes: 8 * GiB })]);

  expect(classAfter([known], run("out_of_memory", { peakMemoryBytes: 4 * GiB }))).toBe(4);
});

test("a timeout chosen by the farm never ends a run a second time", () => {
  const next = after(knownParallel, run("timed_out", { durationMs: 120_000, timeoutMs: 120_000 }));

  expect(next).toMatchObject({ kind: "again", choice: { timeoutMs: hour } });
});

test("a lost worker near its memory limit leads to a larger class", () => {
  const known = [history("action", times(5, { ...serial, peakMemoryBytes: 3.8 * GiB }, 2))];

  expect(classAfter(known, run("lost"))).toBe(2);
  expect(classAfter(known, run("lost", { sizeClass: 2 }))).toBe(2);
});

test("without a memory limit, a lost worker was not lost because of memory", () => {
  const classes = seedClasses.map((each) => ({ ...each, memoryBytes: Number.POSITIVE_INFINITY }));
  const here = situation([], { classes });

  const next = grange.afterwards(here, grange.choose(here), [run("lost")]);

  expect(next).toMatchObject({ kind: "again", choice: { sizeClass: 1 } });
});

// A serial action had become parallel, and its own time limit ended it on one CPU; on class 8 it would have succeeded.
test("a failure after the longest run so far does not count as serial because of earlier runs", () => {
  const known = [history("action", [ran(serial, 4, 1), ...times(8, serial, 1, 2)])];

  expect(classAfter(known, run("failed", { durationMs: 60_000, cpuMs: 60_000 }))).toBe(8);
});

test("describes the event and the reason for continuing", () => {
  const next = after(knownSerial, run("failed", { peakMemoryBytes: 3.8 * GiB, exitCode: 3 }));

  expect(next.kind === "again" ? next.choice.reason : undefined).toEqual({
    kind: "retry-after-failure",
    text: "It failed on class 1 after 4 s (exit code 3), with 95 % of its memory in use.",
  });
});
