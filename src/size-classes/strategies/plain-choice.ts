import type { Alternative, Choice, Reason } from "../choice.ts";
import type { Situation } from "../strategy.ts";
import { medianSuccessMs } from "./median.ts";

/** Returns the choice of a strategy that neither hedges nor allows another class to take it; `more`: optional parts. */
export function plainChoice(
  sizeClass: number,
  timeoutMs: number,
  reason: Reason,
  alternatives: readonly Alternative[],
  more: Partial<Pick<Choice, "backgroundSizeClass" | "pageRank">> = {},
): Choice {
  const chosen = alternatives.find((each) => each.sizeClass === sizeClass);
  return {
    sizeClass,
    isExact: true,
    expectedMs: expectedMs(chosen?.expectedMs, timeoutMs),
    timeoutMs,
    hedge: undefined,
    backgroundSizeClass: more.backgroundSizeClass,
    pageRank: more.pageRank,
    reason,
    alternatives,
  };
}

/** Buildbarn's rule: the median of successes there if it is below the timeout, otherwise the timeout. */
export function expectedMs(medianMs: number | null | undefined, timeoutMs: number): number {
  return typeof medianMs === "number" && medianMs < timeoutMs ? medianMs : timeoutMs;
}

/** Returns the offered classes with the data from the action's own outcomes. */
export function plainAlternatives(situation: Situation): Alternative[] {
  return situation.classes.map((offered) => plainAlternative(situation, offered));
}

function plainAlternative(
  situation: Situation,
  { sizeClass, waitMs }: Situation["classes"][number],
): Alternative {
  const runs = situation.histories[0]?.runs.get(sizeClass) ?? [];
  const failures = runs.reduce((sum, run) => sum + (run.end === "succeeded" ? 0 : 1), 0);
  return {
    sizeClass,
    expectedMs: medianSuccessMs(runs) ?? null,
    waitMs,
    // These strategies do not use prices.
    cost: null,
    risk: runs.length === 0 ? null : failures / runs.length,
  };
}
