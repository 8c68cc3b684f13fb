import type { ClassEstimate, Estimate } from "../estimate/estimate.ts";
import { counted, percent, seconds } from "./figures-in-words.ts";
import type { Explored } from "./grange-explore.ts";
import type { CostedPath } from "./grange-price.ts";

/** 12.4, 0.03, 1540: only significant digits. */
function amount(cost: number): string {
  if (cost >= 100) return cost.toFixed(0);
  if (cost >= 1) return `${Number(cost.toFixed(1))}`;
  return `${Number(cost.toPrecision(1))}`;
}

/** "It takes about 12 s there, at a cost with delay of 48; class 2 would save 1 s for 11 more." */
export function cheapestText(
  known: Estimate,
  paths: readonly CostedPath[],
  cheapest: number,
): string {
  const chosen = paths[cheapest];
  const other = nextBest(paths, cheapest);
  if (chosen === undefined || other === undefined) return "";
  return `${inShort(chosen)}${from(known)}; ${against(chosen, other)}.`;
}

export function exploringText(
  known: Estimate,
  paths: readonly CostedPath[],
  { place, extra, worth, toCome }: Explored,
  cheapest: number,
): string {
  const cheapestClass = paths[cheapest]?.estimate.offered.sizeClass;
  const chosenClass = paths[place]?.estimate.offered.sizeClass;
  return `To see how it runs on class ${chosenClass} costs ${amount(extra / 1000)} more than class ${cheapestClass}, and may save ${amount(worth / 1000)} in the ${counted(toCome, "execution")} to be expected${from(known)}.`;
}

function inShort({ estimate: on, total }: CostedPath): string {
  return `It takes about ${seconds(on.expectedMs)} there, at a cost with delay of ${amount(total / 1000)}`;
}

function against(chosen: CostedPath, other: CostedPath): string {
  const name = `class ${other.estimate.offered.sizeClass}`;
  if (other.estimate.memoryRisk > 0.5) return `${name} lacks memory`;
  const sooner = chosen.delayMs - other.delayMs;
  const more = amount((other.total - chosen.total) / 1000);
  return sooner > 50
    ? `${name} would save ${seconds(sooner)} for ${more} more`
    : `${name} would cost ${more} more`;
}

function from(known: Estimate): string {
  if (known.own !== undefined) return `, from ${counted(known.own.runs, "run")} of it`;
  if (known.likeRuns > 0) return `, from ${counted(known.likeRuns, "run")} of similar actions`;
  return ", without data about it";
}

function nextBest(paths: readonly CostedPath[], chosen: number): CostedPath | undefined {
  let best: CostedPath | undefined;
  for (let i = 0; i < paths.length; i++) {
    const each = paths[i];
    if (i === chosen || each === undefined) continue;
    if (best === undefined || each.total < best.total) best = each;
  }
  return best;
}

export function remarkOf({ memoryRisk, slowRisk, own }: ClassEstimate): string | undefined {
  if (memoryRisk >= 0.01) {
    const times = own?.outOfMemory ?? 0;
    const before = times === 0 ? "" : `; it did so ${times === 1 ? "once" : `${times} times`}`;
    return `runs out of memory with ${percent(memoryRisk)}${before}`;
  }
  if (slowRisk >= 0.01)
    return own !== undefined && own.refuted > 0.5
      ? "failed here of late, and not on a greater class"
      : `takes longer than allowed with ${percent(slowRisk)}`;
  return undefined;
}

export function failedLatelyText(streak: number, sizeClass: number): string {
  const times = streak === 1 ? "once" : `${streak} times in a row`;
  return `It failed on the largest class ${times} recently; a failure on a smaller one would be repeated, so it runs on class ${sizeClass} at once.`;
}
