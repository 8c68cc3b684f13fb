import type { Choice } from "#size-classes/choice.ts";
import type { SizeClassSettings } from "#size-classes/settings.ts";
import type { OfferedClass } from "#size-classes/strategy.ts";
import type { Chooser } from "./chooser.ts";
import { durationOn, type TraceExecution } from "./trace.ts";

/**
 * Chooses with knowledge that no strategy can have, for comparison.
 *
 * For each execution it knows the duration on every class, the memory, its own deadline and whether it fails; about the
 * farm it knows the same as strategies: the expected waits. It chooses the class with the least price × time + price of
 * delay × (wait + time) among those on which the execution ends at the first attempt. It does not know flaky failures,
 * lost workers, the future, or the effect of its choice on others.
 */
export function oracle(settings: SizeClassSettings): Chooser {
  return {
    name: "oracle",
    choose: (situation, execution) => {
      const { classes, timeoutMs } = situation;
      const fits = classes.filter((each) => endsWell(execution, each, timeoutMs));
      // For an execution that fails on every class, the cheapest class is that with the least time × price.
      const candidates = fits.length > 0 ? fits : classes;
      const chosen = candidates.reduce((best, each) =>
        objective(execution, each, settings.priceOfDelay) <
        objective(execution, best, settings.priceOfDelay)
          ? each
          : best,
      );
      return choice(chosen, durationOn(execution, chosen.cpus), timeoutMs, settings);
    },
    // The queue retries lost runs; the oracle avoids all other failures.
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
