import fc from "fast-check";
import type { Choice } from "#size-classes/choice.ts";
import type { EndedRun, Situation } from "#size-classes/strategy.ts";
import type { Chooser } from "./chooser.ts";
import { drawFor } from "./random.ts";
import {
  type TraceHeader as Header,
  type Pool,
  type Trace,
  TraceExecution,
  TraceHeader,
  traceFormat,
} from "./trace.ts";

export const GiB = 2 ** 30;

export function aHeader(changes: Partial<Header> = {}, pool?: Pool): Header {
  return TraceHeader.parse({
    format: traceFormat,
    name: "test",
    classes: [1, 2, 4].map((sizeClass) => ({
      sizeClass,
      cpus: sizeClass,
      memoryBytes: sizeClass * GiB,
      price: sizeClass,
      pool: pool ?? { kind: "fixed", workers: 1_000 },
    })),
    ...changes,
  });
}

export function anExecution(changes: Partial<TraceExecution> = {}): TraceExecution {
  return TraceExecution.parse({
    at: 0,
    keys: { action: "a" },
    serialMs: 1_000,
    peakMemoryBytes: 1_000,
    timeoutMs: 3_600_000,
    ...changes,
  });
}

/** A strategy with random choices, second runs, retries and background runs. */
export function randomStrategy(seed: number): Chooser {
  const pick = (situation: Situation, purpose: number): Choice => {
    const randomShare = (kind: number) =>
      drawFor(seed, purpose, kind, Math.floor(situation.draw * 2 ** 30));
    const { classes } = situation;
    const at = (draw: number) => classes[Math.floor(draw * classes.length)]?.sizeClass ?? 1;
    const sizeClass = at(randomShare(1));
    const greater = classes.filter((each) => each.sizeClass > sizeClass)[0];
    return {
      sizeClass,
      isExact: randomShare(2) < 0.5,
      expectedMs: Math.round(randomShare(3) * 5_000),
      timeoutMs: randomShare(4) < 0.3 ? 500 : situation.timeoutMs,
      hedge:
        greater !== undefined && randomShare(5) < 0.5
          ? { afterMs: Math.round(randomShare(6) * 1_500), sizeClass: greater.sizeClass }
          : undefined,
      backgroundSizeClass: undefined,
      pageRank: undefined,
      reason: { kind: "drawn", text: "a random choice" },
      alternatives: [],
    };
  };
  return {
    name: "randomStrategy",
    choose: (situation) => pick(situation, 1),
    afterwards: (situation, _first, runs: readonly EndedRun[]) => {
      const last = runs.at(-1);
      if (last?.end !== "succeeded" && runs.length < 4 && situation.draw < 0.7)
        return { kind: "again", choice: pick(situation, 2) };
      if (last?.end !== "succeeded" || situation.draw < 0.5) return { kind: "final" };
      const [least] = situation.classes;
      const background = { sizeClass: least?.sizeClass ?? 1, timeoutMs: 2_000, expectedMs: 1_000 };
      return { kind: "final", background };
    },
  };
}

const pools: fc.Arbitrary<Pool> = fc.oneof(
  fc.record({ kind: fc.constant("fixed" as const), workers: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    kind: fc.constant("elastic" as const),
    most: fc.integer({ min: 1, max: 3 }),
    startDelayMs: fc.integer({ min: 0, max: 2_000 }),
    idleMs: fc.integer({ min: 0, max: 3_000 }),
  }),
);

const executions = fc.record({
  at: fc.integer({ min: 0, max: 20_000 }),
  keys: fc.record({ action: fc.constantFrom("a", "b", "c"), mnemonic: fc.constantFrom("m", "n") }),
  serialMs: fc.integer({ min: 0, max: 3_000 }),
  parallelMs: fc.integer({ min: 0, max: 6_000 }),
  width: fc.integer({ min: 1, max: 8 }),
  peakMemoryBytes: fc.integer({ min: 0, max: 5 * GiB }),
  timeoutMs: fc.integer({ min: 1, max: 8_000 }),
  flakyRate: fc.constantFrom(0, 0.3),
});

/** Small farms in which all possible events occur. */
export const traces: fc.Arbitrary<Trace> = fc
  .record({
    pools: fc.tuple(pools, pools, pools),
    order: fc.constantFrom("first-come" as const, "longest-first" as const),
    lostRate: fc.constantFrom(0, 0.2),
    infrastructureRate: fc.constantFrom(0, 0.2),
    all: fc.array(executions, { minLength: 1, maxLength: 40 }),
    failing: fc.constantFrom(undefined, 0, 0.5, 1),
  })
  .map(({ pools: three, all, failing, ...rates }) => {
    const header = aHeader(rates);
    const classes = header.classes.map((each, i) => ({ ...each, pool: three[i] ?? each.pool }));
    return {
      header: { ...header, classes },
      executions: all
        .map((each, i) =>
          anExecution({
            ...each,
            ...(failing !== undefined && i % 5 === 0 && { failsAt: failing }),
          }),
        )
        .sort((one, other) => one.at - other.at),
    };
  });
