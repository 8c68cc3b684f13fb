import type { Alternative, Choice, Reason } from "../choice.ts";
import { bandOf, type Estimate, estimate } from "../estimate/estimate.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { Situation, Strategy } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { afterRun } from "./grange-afterwards.ts";
import { type Prospect, priceOfWaiting, prospectsOf, worthOfSeeing } from "./grange-price.ts";
import { hedgeOf, timeoutOn } from "./grange-time.ts";
import { cheapestText, exploringText, remarkOf } from "./grange-words.ts";

/** docs/size-classes.md, "How `grange` chooses"; why so: docs/decisions/0028-choosing-size-classes.md. */
export function grangeStrategy(settings: SizeClassSettings): Strategy {
  return {
    name: "grange",
    choose: (situation) => choose(situation, settings),
    afterwards: (situation, _first, runs) => afterRun(situation, runs, settings),
  };
}

/** How many executions of an action are to be expected: as many again as there were, within reason. */
const mostToCome = 30;

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

export interface Explored {
  readonly place: number;
  /** What it costs more than the cheapest. */
  readonly extra: number;
  /** What it may save in all the executions to come. */
  readonly worth: number;
  readonly toCome: number;
}

/** A class on which a run teaches what is worth more than it costs now. */
function exploredInstead(
  known: Estimate,
  waiting: number,
  prospects: readonly Prospect[],
  cheapest: number,
): Explored | undefined {
  const toCome = Math.min(mostToCome, known.own?.runs ?? 0);
  const least = prospects[cheapest];
  if (toCome === 0 || least === undefined) return undefined;
  const worths = worthOfSeeing(known, waiting);
  const workMs = least.estimate.expectedMs / least.estimate.slowness;
  const worthAt = (place: number) => (worths[place] ?? 0) * workMs * toCome;
  let best: Explored | undefined;
  for (let place = 0; place < prospects.length; place++) {
    const prospect = prospects[place];
    if (prospect === undefined || place === cheapest) continue;
    const extra = prospect.total - least.total;
    // What the cheapest would show as well is not to be paid for.
    const worth = worthAt(place) - worthAt(cheapest);
    if (worth - extra > (best ? best.worth - best.extra : 0))
      best = { place, extra, worth, toCome };
  }
  return best;
}

/** @param chosen Its place among the classes. */
export function choiceOf(
  situation: Situation,
  settings: SizeClassSettings,
  known: Estimate,
  prospects: readonly Prospect[],
  chosen: number,
  reason: Reason,
  options: { readonly timeoutMs?: number; readonly mayHedge?: boolean } = {},
): Choice {
  const { classes } = known;
  const on = classes[chosen];
  const greatest = classes.at(-1);
  if (on === undefined || greatest === undefined) throw new RangeError(`no class at ${chosen}`);
  const waiting = priceOfWaiting(situation.classes, settings);
  const timeoutMs = options.timeoutMs ?? timeoutOn(on, greatest, situation.timeoutMs);
  return {
    sizeClass: on.offered.sizeClass,
    isExact: !settings.greaterMayTake,
    expectedMs: Math.round(Math.min(on.expectedMs, timeoutMs)),
    timeoutMs,
    hedge:
      options.mayHedge === false
        ? undefined
        : hedgeOf(on, classes.slice(chosen + 1), timeoutMs, waiting),
    backgroundSizeClass: undefined,
    pageRank: undefined,
    reason,
    alternatives: prospects.map((each) => alternativeOf(each)),
  };
}

function alternativeOf({ estimate: on, total, risk }: Prospect): Alternative {
  const remark = remarkOf(on);
  return {
    sizeClass: on.offered.sizeClass,
    expectedMs: on.expectedMs,
    bandMs: bandOf(on.duration),
    waitMs: on.offered.waitMs,
    cost: total / 1000,
    risk,
    ...(remark !== undefined && { remark }),
  };
}
