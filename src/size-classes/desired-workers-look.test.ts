import { describe, expect, test } from "vitest";
import type { QueuedDemand, WorkerLoad } from "#execution/sizing/size-class-demand.store.ts";
import {
  emptyScalingMemory,
  lookAtClasses,
  type ScaledClass,
  type ScalingFacts,
} from "./desired-workers-look.ts";
import { arrivalsPerSecond, newPoolMemory, noteSeen } from "./desired-workers-memory.ts";
import { aDeclaredClass, linux } from "./size-classes.fixture.ts";

const settings = { targetWaitMs: 60_000, startDelayMs: 60_000, scaleDownMs: 300_000 };
const minute = 60_000;

const load = (name: string, changes: Partial<WorkerLoad> = {}): WorkerLoad => ({
  name,
  platform: { ...linux, ISA: "x86-64" },
  sizeClass: 1,
  slots: 1,
  condition: "alive",
  registeredAt: new Date(0),
  finished: 0,
  held: 0,
  remainingMs: 0,
  foreseen: 0,
  foreseenMs: 0,
  ...changes,
});
const demand = (executions: number, changes: Partial<QueuedDemand> = {}): QueuedDemand => ({
  requirements: linux,
  sizeClass: 1,
  executions,
  dueInMs: 0,
  eachMs: 10_000,
  ...changes,
});
const look = (facts: Partial<ScalingFacts>, memory = emptyScalingMemory) =>
  lookAtClasses({ at: 0, declared: [], workers: [], queued: [], ...facts }, memory, settings);
const one = (classes: readonly ScaledClass[]): ScaledClass => {
  const [only, ...more] = classes;
  if (only === undefined || more.length > 0) throw new Error(`${classes.length} classes`);
  return only;
};

describe("classes", () => {
  test("are those that are declared, with the executions that wait for them, without workers", () => {
    const { classes, unserved } = look({
      declared: [aDeclaredClass({ sizeClass: 2 }), aDeclaredClass({ sizeClass: 4 })],
      queued: [demand(3, { sizeClass: 2, eachMs: 600_000 }), demand(1, { sizeClass: 3 })],
    });

    expect(unserved).toBe(0);
    expect(classes).toMatchObject([
      { sizeClass: 2, now: 0, queued: 3, desired: 3, drain: [] },
      { sizeClass: 4, now: 0, queued: 1, desired: 1, drain: [] },
    ]);
  });

  test("include the workers that offer at least the declared properties; others form their own classes", () => {
    const gpu = { ...linux, gpu: "yes" };
    const { classes } = look({
      declared: [aDeclaredClass(), aDeclaredClass({ platform: gpu })],
      workers: [
        load("a"),
        load("b", { platform: { ...gpu, ISA: "x86-64" } }),
        load("c", { sizeClass: 2 }),
      ],
    });

    expect(
      classes.map(({ platform, sizeClass, now, declared }) => [
        platform,
        sizeClass,
        now,
        declared !== undefined,
      ]),
    ).toEqual([
      [gpu, 1, 1, true],
      [linux, 1, 1, true],
      [{ ...linux, ISA: "x86-64" }, 2, 1, false],
    ]);
  });

  test("do not count workers that have disappeared without an event", () => {
    const workers = [load("a", { condition: "silent", held: 3 })];

    expect(look({ workers }).classes).toEqual([]);
    expect(one(look({ workers, declared: [aDeclaredClass()] }).classes)).toMatchObject({
      now: 0,
      slots: 0,
      busySlots: 0,
      desired: 0,
    });
  });

  test("without workers and without the right to start any leave executions unserved", () => {
    const { unserved } = look({
      declared: [aDeclaredClass({ mostWorkers: 0 })],
      queued: [demand(2), demand(1, { requirements: { OSFamily: "macos" } })],
    });

    expect(unserved).toBe(3);
  });

  test("whose workers offer additional properties serve executions that require them", () => {
    const { unserved, classes } = look({
      declared: [aDeclaredClass()],
      workers: [load("a")],
      queued: [demand(2, { requirements: { ISA: "x86-64" } })],
    });

    expect([unserved, one(classes).queued]).toEqual([0, 2]);
  });
});

describe("workers are released", () => {
  const idle = ["a", "b", "c"].map((name) => load(name));

  test("not until they were superfluous for a while, and only superfluous ones", () => {
    const first = look({ workers: idle, at: 0 });
    const early = look({ workers: idle, at: 4 * minute }, first.memory);
    const late = look({ workers: idle, at: 6 * minute }, early.memory);

    expect([first, early, late].map(({ classes }) => one(classes).desired)).toEqual([3, 3, 0]);
    expect(one(late.classes).drain).toEqual(["a", "b", "c"]);
  });

  test("the longest idle first, then the newest; busy ones stay", () => {
    const came = (ms: number) => ({ registeredAt: new Date(ms) });
    const begun = [
      load("busy", { held: 1, remainingMs: minute }),
      load("ran", { finished: 3 }),
      load("old", came(-9)),
      load("new", came(-5)),
    ];
    const first = look({ workers: begun, at: 0 });
    // In between, `old` executed something, although it is idle again.
    const then = begun.map((each) => (each.name === "old" ? { ...each, finished: 1 } : each));
    const later = look({ workers: then, at: 6 * minute }, first.memory);
    const last = look({ workers: then, at: 12 * minute }, later.memory);

    expect(one(last.classes).desired).toBe(1);
    expect(one(last.classes).drain).toEqual(["new", "ran", "old"]);
  });

  test("also busy ones, when fewer are allowed than are busy", () => {
    const workers = ["a", "b"].map((name) => load(name, { held: 1, remainingMs: minute }));

    const found = one(look({ workers, declared: [aDeclaredClass({ mostWorkers: 1 })] }).classes);

    expect(found).toMatchObject({ desired: 1, now: 2, drain: ["a"] });
  });
});

test("arrivals are counted from waiting, running and ended executions; a cancellation is not an arrival", () => {
  const seen = [10, 40, 20, 50];

  const memory = seen.reduce(
    (before, count, nth) => noteSeen(before, { at: nth * minute, seen: count, eachMs: undefined }),
    newPoolMemory(0),
  );

  expect(arrivalsPerSecond(memory)).toBe(60 / 180);
});

describe("an autoscaler that follows the numbers", () => {
  /** Simulates a farm minute by minute: arrivals, workers with a start delay, and an autoscaler. */
  function play(minutes: number, arriving: (minute: number) => number) {
    const stepMs = 5_000;
    let memory = emptyScalingMemory;
    let queued = 0;
    let finished = 0;
    let worked = 0;
    let starting: number[] = [];
    let up: { name: string; bornAt: number }[] = [];
    const counts: number[] = [];
    for (let at = 0; at < minutes * minute; at += stepMs) {
      up = [
        ...up,
        ...starting
          .filter((ready) => ready <= at)
          .map((ready) => ({ name: `w${ready}-${up.length}`, bornAt: at })),
      ];
      starting = starting.filter((ready) => ready > at);
      queued += (arriving(Math.floor(at / minute)) * stepMs) / minute;
      // Each execution takes two steps: a worker completes half of one per step.
      const done = Math.min(queued, up.length / 2);
      queued -= done;
      finished += done;
      worked += done;
      const busy = Math.min(up.length, Math.ceil(queued));
      const workers = up.map(({ name, bornAt }, nth) =>
        load(name, {
          registeredAt: new Date(bornAt),
          finished: nth === 0 ? Math.round(finished) : 0,
          ...(nth < busy ? { held: 1, remainingMs: stepMs } : {}),
        }),
      );
      const waiting = Math.max(0, Math.round(queued) - busy);
      const looked = look(
        {
          at,
          workers,
          declared: [aDeclaredClass({ mostWorkers: 100 })],
          queued: waiting === 0 ? [] : [demand(waiting, { eachMs: 2 * stepMs })],
        },
        memory,
      );
      memory = looked.memory;
      const { desired, drain } = one(looked.classes);
      const missing = desired - up.length - starting.length;
      starting = [...starting, ...Array.from({ length: Math.max(0, missing) }, () => at + 60_000)];
      up = up.filter(({ name }) => !drain.includes(name));
      counts.push(desired);
    }
    return { counts, queued, worked };
  }
  const turns = (counts: readonly number[]) => {
    const moves = counts
      .slice(1)
      .map((count, i) => Math.sign(count - (counts[i] ?? 0)))
      .filter((move) => move !== 0);
    return moves.filter((move, i) => i > 0 && move !== moves[i - 1]).length;
  };

  test("becomes stable under a steady load, and reaches zero when the load ends", () => {
    const { counts, queued, worked } = play(60, (at) => (at < 30 ? 60 : 0));

    // 60 per minute of 10 s each use ten slots.
    const settled = counts.slice(15 * 12, 30 * 12);
    expect(Math.max(...settled) - Math.min(...settled)).toBeLessThanOrEqual(2);
    expect(Math.min(...settled)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...settled)).toBeLessThanOrEqual(20);
    expect(turns(counts)).toBeLessThanOrEqual(3);
    expect(counts.at(-1)).toBe(0);
    expect(queued).toBeCloseTo(0);
    expect(worked).toBeCloseTo(1_800);
  });

  test("does not follow every burst", () => {
    const { counts } = play(60, (at) => (at % 3 === 0 ? 90 : 0));

    expect(turns(counts.slice(10 * 12))).toBeLessThanOrEqual(4);
  });
});
