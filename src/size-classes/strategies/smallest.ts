import type { Strategy } from "../strategy.ts";
import { leastOf } from "./class-at.ts";
import { plainAlternatives, plainChoice } from "./plain-choice.ts";
import { retryOnLargest } from "./retry-on-largest.ts";
import { onlyChoice } from "./undrawn-choices.ts";

/** Buildbarn's `FallbackAnalyzer`: the smallest class with the full timeout, and the largest after that has failed. */
export const smallestStrategy: Strategy = {
  name: "smallest",
  choose(situation) {
    const only = onlyChoice(situation);
    if (only !== undefined) return only;
    const { sizeClass } = leastOf(situation);
    const reason = {
      kind: "fixed",
      text: `Everything runs on the smallest class first, here class ${sizeClass}.`,
    } as const;
    const alternatives = plainAlternatives(situation);
    return plainChoice(sizeClass, situation.timeoutMs, reason, alternatives);
  },
  afterwards: (situation, _first, runs) => retryOnLargest(situation, runs),
};
