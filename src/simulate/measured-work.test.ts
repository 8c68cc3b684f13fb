import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstStoppingEvent } from "./first-stopping-event.ts";
import { type MeasuredAttempt, measuredWork } from "./measured-work.ts";
import { aHeader, anExecution, GiB } from "./trace.fixture.ts";
import { TraceExecution } from "./trace.ts";

const header = aHeader();
const { classes } = header;
const keys = { action: "a" };

function attempt(changes: Partial<MeasuredAttempt> = {}): MeasuredAttempt {
  return {
    sizeClass: 2,
    end: "succeeded",
    durationMs: 4_000,
    timeoutMs: 60_000,
    cpuMs: null,
    peakMemoryBytes: null,
    ...changes,
  };
}

function work(...attempts: readonly MeasuredAttempt[]) {
  return measuredWork(5, keys, 60_000, attempts, classes);
}

describe("measurements", () => {
  test("of work with the width of its class give the same work", () => {
    const places = fc.integer({ min: 0, max: 2 });
    const parts = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(places, parts, parts, (place, serialMs, parallelMs) => {
        const on = classes[place];
        if (on === undefined) throw new RangeError("no such class");
        const was = anExecution({ serialMs, parallelMs, width: on.cpus });
        const run = { seed: 1, execution: 0, run: 0, attempt: 0, timeoutMs: 1e9 };
        const {
          durationMs,
          cpuMs = 0,
          peakMemoryBytes = 0,
        } = firstStoppingEvent(header, was, on, run);

        const told = work(attempt({ sizeClass: on.sizeClass, durationMs, cpuMs, peakMemoryBytes }));

        expect(told).toBeDefined();
        const again = firstStoppingEvent(header, TraceExecution.parse(told), on, run);
        expect(Math.abs(again.durationMs - durationMs)).toBeLessThanOrEqual(3);
        expect(Math.abs((again.cpuMs ?? 0) - cpuMs)).toBeLessThanOrEqual(6);
      }),
    );
  });

  test("without CPU time count as work of one CPU", () => {
    expect(work(attempt())).toMatchObject({ serialMs: 4_000, parallelMs: 0, width: 1 });
  });

  test("on one CPU are marked as unknown for more CPUs", () => {
    expect(work(attempt({ sizeClass: 1, cpuMs: 4_000 }))).toMatchObject({ seenOnOneCpu: true });
    expect(work(attempt({ sizeClass: 2, cpuMs: 4_000 }))).not.toHaveProperty("seenOnOneCpu");
  });

  test("with attempts that ran out of memory need more memory than these had", () => {
    const told = work(
      attempt({ sizeClass: 1, end: "out_of_memory", peakMemoryBytes: GiB }),
      attempt({ peakMemoryBytes: 1.5 * GiB }),
    );

    expect(told).toMatchObject({ serialMs: 4_000, peakMemoryBytes: 1.5 * GiB });
    expect(work(attempt({ end: "out_of_memory" }))?.peakMemoryBytes).toBe(2.5 * GiB);
  });

  test("distinguish failures from timeouts, and ignore unfinished attempts", () => {
    expect(work(attempt({ end: "failed" }))).toMatchObject({ serialMs: 4_000, failsAt: 1 });
    expect(work(attempt({ end: "timed_out" }))).toMatchObject({ serialMs: 8_000 });
    expect(work()).toBeUndefined();
  });

  test("have the format of a trace, whatever they were", () => {
    const numbers = fc.double({ min: 0, noNaN: true });
    fc.assert(
      fc.property(numbers, numbers, numbers, numbers, (at, durationMs, cpuMs, peakMemoryBytes) => {
        const told = measuredWork(
          at,
          keys,
          durationMs,
          [attempt({ durationMs, cpuMs, peakMemoryBytes })],
          classes,
        );
        expect(TraceExecution.safeParse(told).success).toBe(true);
      }),
      { examples: [[0, 8.99e307, Infinity, 0]] },
    );
  });
});
