import { describe, expect, test } from "vitest";
import { firstStoppingEvent } from "./first-stopping-event.ts";
import { aHeader, anExecution, GiB } from "./trace.fixture.ts";
import type { TraceExecution, TraceHeader } from "./trace.ts";

function run(
  changes: Partial<TraceExecution>,
  { place = 0, timeoutMs = 3_600_000, run = 0, attempt = 0, seed = 1 } = {},
  header: Partial<TraceHeader> = {},
) {
  const whole = aHeader(header);
  const on = whole.classes[place];
  if (on === undefined) throw new RangeError("no such class");
  return firstStoppingEvent(whole, anExecution(changes), on, {
    seed,
    execution: 0,
    run,
    attempt,
    timeoutMs,
  });
}

describe("a run", () => {
  test.each([
    { place: 0, durationMs: 9_000 },
    { place: 1, durationMs: 5_000 },
    { place: 2, durationMs: 3_000 },
  ])("on class $place takes $durationMs ms, and the same CPU time", ({ place, durationMs }) => {
    const work = { serialMs: 1_000, parallelMs: 8_000, width: 4 };

    const ended = run(work, { place });

    expect(ended).toMatchObject({ end: "succeeded", durationMs, cpuMs: 9_000, exitCode: 0 });
  });

  test("gains nothing from more CPUs than its width", () => {
    const work = { serialMs: 0, parallelMs: 8_000, width: 2 };

    expect(run(work, { place: 2 }).durationMs).toBe(4_000);
  });

  test("without enough memory ends before its end, on classes with too little", () => {
    const work = { peakMemoryBytes: 1.5 * GiB, serialMs: 10_000 };

    expect(run(work)).toMatchObject({
      end: "out_of_memory",
      durationMs: 4_000,
      cpuMs: 4_000,
      peakMemoryBytes: GiB,
      exitCode: 137,
    });
    expect(run(work, { place: 1 })).toMatchObject({
      end: "succeeded",
      peakMemoryBytes: 1.5 * GiB,
    });
  });

  test("without enough memory may only report a failure", () => {
    const hidden = { hiddenOutOfMemoryRate: 1 };

    expect(run({ peakMemoryBytes: 9 * GiB }, {}, hidden)).toMatchObject({
      end: "failed",
      exitCode: 1,
    });
  });

  test("is stopped at its timeout", () => {
    const work = { serialMs: 2_000, parallelMs: 8_000, width: 8 };

    expect(run(work, { place: 1, timeoutMs: 3_000 })).toMatchObject({
      end: "timed_out",
      durationMs: 3_000,
      timeoutMs: 3_000,
      cpuMs: 4_000,
    });
  });

  test("with an error fails on every class; with its own time limit, it fails on slow classes", () => {
    const slow = { serialMs: 0, parallelMs: 8_000, width: 4, ownTimeoutMs: 5_000 };

    for (const place of [0, 1, 2])
      expect(run({ failsAt: 0.5 }, { place })).toMatchObject({ end: "failed", durationMs: 500 });
    expect([0, 1, 2].map((place) => run(slow, { place }).end)).toEqual([
      "failed",
      "succeeded",
      "succeeded",
    ]);
  });

  test("is flaky by its attempt, whatever the class", () => {
    const ends = (place: number) =>
      Array.from({ length: 50 }, (_, attempt) => run({ flakyRate: 0.5 }, { place, attempt }).end);

    expect(ends(0)).toEqual(ends(2));
    expect(new Set(ends(0))).toEqual(new Set(["succeeded", "failed"]));
  });

  test("whose worker is lost contains no information", () => {
    expect(run({}, {}, { lostRate: 1 })).toMatchObject({
      end: "lost",
      cpuMs: undefined,
      peakMemoryBytes: undefined,
      infrastructure: false,
    });
    expect(run({}, {}, { infrastructureRate: 1 })).toMatchObject({
      end: "lost",
      infrastructure: true,
    });
  });
});
