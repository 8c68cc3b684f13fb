import type { Choice } from "../choice.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { Situation } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { span } from "./figures-in-words.ts";
import { plainAlternatives, plainChoice } from "./plain-choice.ts";

/**
 * The seed's boost: an execution that failed on the largest class recently runs only there for a while, so that a
 * developer who fixes a compiler error does not wait twice for each failure.
 */
export function boostedChoice(
  situation: Situation,
  settings: Pick<SizeClassSettings, "failureBoostMs">,
): Choice | undefined {
  const failedAt = situation.histories[0]?.lastFailureAt;
  if (failedAt === undefined || failedAt < situation.now - settings.failureBoostMs) return;
  const { sizeClass } = greatestOf(situation);
  const reason = {
    kind: "failed-lately",
    text: `It failed on the largest class ${span(situation.now - failedAt)} ago; for ${span(settings.failureBoostMs)} after that it runs on class ${sizeClass} only.`,
  } as const;
  return plainChoice(sizeClass, situation.timeoutMs, reason, plainAlternatives(situation));
}

/** When only one class is offered, there is no choice. */
export function onlyChoice(situation: Situation): Choice | undefined {
  if (situation.classes.length > 1) return;
  const { sizeClass } = greatestOf(situation);
  const reason = {
    kind: "only-class",
    text: `Class ${sizeClass} is the only one that may be chosen.`,
  } as const;
  return plainChoice(sizeClass, situation.timeoutMs, reason, plainAlternatives(situation));
}
