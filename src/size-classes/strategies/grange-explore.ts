import type { Estimate } from "../estimate/estimate.ts";
import { type CostedPath, valueOfFullKnowledge, valueOfOneRun } from "./grange-price.ts";

/** The number of future executions of an action that is assumed: as many as there were, up to this limit. */
const mostToCome = 30;

export interface Explored {
  readonly place: number;
  /** Its additional cost compared with the cheapest. */
  readonly extra: number;
  /** The possible saving in all later executions. */
  readonly worth: number;
  readonly toCome: number;
}

/** Returns a class on which the information from a run is worth more than its cost. */
export function exploredInstead(
  known: Estimate,
  waiting: number,
  paths: readonly CostedPath[],
  cheapest: number,
): Explored | undefined {
  const toCome = Math.min(mostToCome, known.own?.runs ?? 0);
  const least = paths[cheapest];
  if (toCome === 0 || least === undefined) return undefined;
  let leastExtra = Number.POSITIVE_INFINITY;
  paths.forEach(({ total }, place) => {
    if (place !== cheapest) leastExtra = Math.min(leastExtra, total - least.total);
  });
  // Usually true, and cheaper to check than the information from each class.
  if (valueOfFullKnowledge(known, waiting) * toCome <= leastExtra) return undefined;
  const worths = valueOfOneRun(known, waiting);
  const worthAt = (place: number) => (worths[place] ?? 0) * toCome;
  let best: Explored | undefined;
  for (let place = 0; place < paths.length; place++) {
    const path = paths[place];
    if (path === undefined || place === cheapest) continue;
    const extra = path.total - least.total;
    // Information that the cheapest class would also give is not worth its cost.
    const worth = worthAt(place) - worthAt(cheapest);
    if (worth - extra > (best ? best.worth - best.extra : 0))
      best = { place, extra, worth, toCome };
  }
  return best;
}
