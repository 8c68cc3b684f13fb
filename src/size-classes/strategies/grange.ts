import type { Choice, Reason } from "../choice.ts";
import { estimate } from "../estimate/estimate.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { Situation, Strategy } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { afterRun } from "./grange-afterwards.ts";
import { choiceOf } from "./grange-choice.ts";
import { exploredInstead } from "./grange-explore.ts";
import { priceOfWaiting, prospectsOf } from "./grange-price.ts";
import { cheapestText, exploringText } from "./grange-words.ts";

/** docs/size-classes.md, "How `grange` chooses"; why so: docs/decisions/0028-choosing-size-classes.md. */
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
  const prospects = prospectsOf(known, waiting);
  if (prospects.length === 1)
    return choiceOf(situation, settings, known, prospects, 0, {
      kind: "only-class",
      text: `Class ${greatestOf(situation).sizeClass} is the only one that may be chosen.`,
    });
  let cheapest = 0;
  for (let i = 1; i < prospects.length; i++)
    if ((prospects[i]?.total ?? 0) < (prospects[cheapest]?.total ?? 0)) cheapest = i;
  const explored = exploredInstead(known, waiting, prospects, cheapest);
  const chosen = explored?.place ?? cheapest;
  const reason: Reason = explored
    ? { kind: "exploring", text: exploringText(known, prospects, explored, cheapest) }
    : { kind: "cheapest", text: cheapestText(known, prospects, cheapest) };
  return choiceOf(situation, settings, known, prospects, chosen, reason);
}
