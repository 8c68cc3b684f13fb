import type { Alternative, Choice, Reason } from "../choice.ts";
import { bandOf, type Estimate } from "../estimate/estimate.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { Situation } from "../strategy.ts";
import { type CostedPath, priceOfWaiting } from "./grange-price.ts";
import { hedgeOf, timeoutOn } from "./grange-time.ts";
import { remarkOf } from "./grange-words.ts";

/**
 * Similar actions alone do not show that a run is late: the longest of a kind takes a thousand times as long as most.
 */
const runsToHedge = 3;

/** @param chosen Its index among the classes. */
export function choiceOf(
  situation: Situation,
  settings: SizeClassSettings,
  known: Estimate,
  paths: readonly CostedPath[],
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
      options.mayHedge === false || known.own === undefined || known.own.succeeded < runsToHedge
        ? undefined
        : hedgeOf(on, classes.slice(chosen + 1), known.own, timeoutMs, waiting),
    backgroundSizeClass: undefined,
    pageRank: undefined,
    reason,
    alternatives: paths.map((each) => alternativeOf(each)),
  };
}

function alternativeOf({ estimate: on, total, risk }: CostedPath): Alternative {
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
