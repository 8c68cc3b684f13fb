import type { Strategy } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { plainAlternatives, plainChoice } from "./plain-choice.ts";
import { retryOnLargest } from "./retry-on-largest.ts";
import { onlyChoice } from "./undrawn-choices.ts";

/** Runs everything on the largest class, as in a farm without size classes. */
export const largestStrategy: Strategy = {
  name: "largest",
  choose(situation) {
    const only = onlyChoice(situation);
    if (only !== undefined) return only;
    const { sizeClass } = greatestOf(situation);
    const reason = {
      kind: "fixed",
      text: `Everything runs on the largest class, here class ${sizeClass}.`,
    } as const;
    const alternatives = plainAlternatives(situation);
    return plainChoice(sizeClass, situation.timeoutMs, reason, alternatives);
  },
  afterwards: (situation, _first, runs) => retryOnLargest(situation, runs),
};
