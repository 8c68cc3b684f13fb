import type { Choice, Reason } from "../choice.ts";
import { estimate } from "../estimate/estimate.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { Situation, Strategy } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { afterRun } from "./grange-afterwards.ts";
import { choiceOf } from "./grange-choice.ts";
import { exploredInstead } from "./grange-explore.ts";
import { type CostedPath, costedPaths, priceOfWaiting } from "./grange-price.ts";
import { cheapestText, exploringText, failedLatelyText } from "./grange-words.ts";

/** docs/size-classes.md, "How `grange` chooses"; the reasons: docs/decisions/0028-choosing-size-classes.md. */
export function grangeStrategy(settings: SizeClassSettings): Strategy {
  return {
    name: "grange",
    choose: (situation) => choose(situation, settings),
    afterwards: (situation, _first, runs) => afterRun(situation, runs, settings),
  };
}

function choose(situation: Situation, settings: SizeClassSettings): Choice {
  const known = estimate(situation.histories, situation.classes, situation.timeoutMs);
  const waiting = priceOfWaiting(situation.classes, settings);
  const streak = failingStreak(situation, settings);
  const paths = costedPaths(known, waiting, streak / (streak + 1));
  if (paths.length === 1)
    return choiceOf(situation, settings, known, paths, 0, {
      kind: "only-class",
      text: `Class ${greatestOf(situation).sizeClass} is the only one that may be chosen.`,
    });
  const cheapest = cheapestOf(paths);
  if (streak > 0 && cheapest !== cheapestOf(costedPaths(known, waiting)))
    return choiceOf(situation, settings, known, paths, cheapest, {
      kind: "failed-lately",
      text: failedLatelyText(streak, paths[cheapest]?.estimate.offered.sizeClass ?? 0),
    });
  const explored = exploredInstead(known, waiting, paths, cheapest);
  const chosen = explored?.place ?? cheapest;
  const reason: Reason = explored
    ? { kind: "exploring", text: exploringText(known, paths, explored, cheapest) }
    : { kind: "cheapest", text: cheapestText(known, paths, cheapest) };
  return choiceOf(situation, settings, known, paths, chosen, reason);
}

function cheapestOf(paths: readonly CostedPath[]): number {
  let cheapest = 0;
  for (let i = 1; i < paths.length; i++)
    if ((paths[i]?.total ?? 0) < (paths[cheapest]?.total ?? 0)) cheapest = i;
  return cheapest;
}

/**
 * Returns how many consecutive recent failures the action itself had on the largest class.
 *
 * A developer who repairs a compile error runs the same command many times. After n failures without a success, the
 * next is a failure with probability n / (n + 1): Laplace's rule, with one assumed success.
 */
function failingStreak(
  { histories: [own], now }: Situation,
  { failureBoostMs }: SizeClassSettings,
): number {
  if (own?.level !== "action" || own.lastFailureAt === undefined) return 0;
  return now - own.lastFailureAt < failureBoostMs ? own.failuresInARow : 0;
}
