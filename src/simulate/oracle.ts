import type { Choice } from "#size-classes/choice.ts";
import type { SizeClassSettings } from "#size-classes/settings.ts";
import type { OfferedClass } from "#size-classes/strategy.ts";
import type { Chooser } from "./chooser.ts";
import { durationOn, type TraceExecution } from "./trace.ts";

/**
 * Chooses by what no strategy can know, for comparison.
 *
 * Of each execution it knows how long it runs on every class, its memory, its own deadline and whether it is wrong;
 * of the farm, what strategies are told: how long the queues are expected to take. It takes the class with the least
 * price × time + price of delay × (wait + time) among those on which the execution comes to its end at once. It does
 * not know flaky failures, lost workers, what comes later, or what its choice does to others.
 */
export function oracle(settings: SizeClassSettings): Chooser {
  return {
    name: "oracle",
    choose: (situation, execution) => {
      const { classes, timeoutMs } = situation;
      const fits = classes.filter((each) => endsWell(execution, each, timeoutMs));
      // What fails everywhere fails cheapest where time × price is least.
      const candidates = fits.length > 0 ? fits : classes;
      const chosen = candidates.reduce((best, each) =>
        objective(execution, each, settings.priceOfDelay) <
        objective(execution, best, settings.priceOfDelay)
          ? each
          : best,
      );
      return choice(chosen, durationOn(execution, chosen.cpus), timeoutMs, settings);
    },
    // Lost runs are tried again by the queue; all else it would have avoided.
    afterwards: () => ({ kind: "final" }),
  };
}

function endsWell(execution: TraceExecution, on: OfferedClass, timeoutMs: number): boolean {
  const durationMs = durationOn(execution, on.cpus);
  return (
    execution.peakMemoryBytes <= on.memoryBytes &&
    durationMs <= timeoutMs &&
    durationMs <= (execution.ownTimeoutMs ?? Infinity)
  );
}

function objective(execution: TraceExecution, on: OfferedClass, priceOfDelay: number): number {
  const durationMs = durationOn(execution, on.cpus);
  return on.price * durationMs + priceOfDelay * (on.waitMs + durationMs);
}

function choice(
  { sizeClass }: OfferedClass,
  expectedMs: number,
  timeoutMs: number,
  settings: SizeClassSettings,
): Choice {
  return {
    sizeClass,
    isExact: !settings.greaterMayTake,
    expectedMs,
    timeoutMs,
    hedge: undefined,
    backgroundSizeClass: undefined,
    pageRank: undefined,
    reason: { kind: "cheapest", text: "knows the future" },
    alternatives: [],
  };
}
