import { expect, test } from "vitest";
import { chooserOf } from "#simulate/chooser.ts";
import { figuresOf } from "#simulate/figures.ts";
import { randomFrom } from "#simulate/random.ts";
import { simulate } from "#simulate/simulate.ts";
import { durationOn, type Trace } from "#simulate/trace.ts";
import { standardTraces } from "#simulate/traces/standard-traces.ts";
import { defaultSettings } from "../settings.ts";
import { grangeStrategy } from "./grange.ts";

/**
 * Harder than any standard trace: half of the actions have their own time limit, 1.5 to 6 times their duration on the
 * largest class, whose failure looks like any other; half of those that lack memory only report "failed"; one in fifty
 * is flaky.
 */
function withDeadlines(trace: Trace, seed: number): Trace {
  const random = randomFrom(seed);
  const deadlines = new Map<string, number | undefined>();
  return {
    header: { ...trace.header, hiddenOutOfMemoryRate: 0.5 },
    executions: trace.executions.map((each) => {
      const { action } = each.keys;
      if (!deadlines.has(action)) {
        const ms = Math.round(durationOn(each, 8) * (1.5 + 4.5 * random()));
        deadlines.set(action, random() < 0.5 ? Math.max(1, ms) : undefined);
      }
      const ownTimeoutMs = deadlines.get(action);
      return { ...each, flakyRate: 0.02, ...(ownTimeoutMs !== undefined && { ownTimeoutMs }) };
    }),
  };
}

// Serial actions had become parallel, and their time limits ended them on class 1: 9 false failures.
test.each(["code-change", "memory-outliers"])(
  "no client hears of a failure on %s that the greatest class would not have had",
  (name) => {
    const trace = withDeadlines(standardTraces[name]?.(1) as Trace, 100);

    const figures = figuresOf(
      trace,
      simulate(trace, chooserOf(grangeStrategy(defaultSettings)), 1),
      1,
    );

    expect(figures.failures).toBeGreaterThan(100);
    expect(figures.falseFailures).toBe(0);
  },
);
