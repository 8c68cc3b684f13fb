import type { Alternative, Choice, Reason } from "../choice.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { OfferedClass, Situation, Strategy } from "../strategy.ts";
import { acceptableMs } from "./acceptable-time.ts";
import { successProbability, type Trials, trialsWithin } from "./bernoulli.ts";
import { classAt, greatestOf } from "./class-at.ts";
import { counted, percent, seconds } from "./figures-in-words.ts";
import { medianSuccessMs } from "./median.ts";
import { plainAlternatives, plainChoice } from "./plain-choice.ts";
import { retryOnLargest } from "./retry-on-largest.ts";
import { boostedChoice, onlyChoice } from "./undrawn-choices.ts";
import { drawnPlace, requestedInTurn } from "./walk-classes.ts";

/**
 * Implements the text of Buildbarn's ADR #7 exactly; docs/decisions/0027-size-class-strategies.md decides the points
 * that it leaves open.
 */
export function adrStrategy(settings: SizeClassSettings): Strategy {
  return {
    name: "adr",
    choose: (situation) =>
      onlyChoice(situation) ??
      boostedChoice(situation, settings) ??
      drawnChoice(situation, settings),
    afterwards: (situation, _first, runs) => retryOnLargest(situation, runs),
  };
}

/** The known results of a smaller class. */
interface SmallerClass {
  readonly sizeClass: number;
  readonly acceptableMs: number;
  readonly trials: Trials;
}

function drawnChoice(situation: Situation, settings: SizeClassSettings): Choice {
  const baseline = medianSuccessMs(runsOn(situation, greatestOf(situation).sizeClass));
  const candidates = situation.classes
    .slice(0, -1)
    .map((smaller) => smallerClassOf(situation, smaller, baseline, settings));
  const probabilities = requestedInTurn(candidates.map(({ trials }) => successProbability(trials)));
  const place = drawnPlace(probabilities, situation.draw);
  const chosen = classAt(situation, place);
  const candidate = candidates[place];
  const timeoutMs =
    candidate === undefined
      ? situation.timeoutMs
      : Math.min(candidate.acceptableMs * settings.timeoutMultiplier, situation.timeoutMs);
  const chance = percent(probabilities[place] ?? 0);
  const reason =
    candidate === undefined
      ? largestDrawn(chosen, chance, candidates)
      : smallerDrawn(candidate, chance, timeoutMs, baseline === undefined);
  const alternatives = plainAlternatives(situation).map((plain, i) =>
    alternativeOf(plain, probabilities[i] ?? 0, candidates[i]),
  );
  return plainChoice(chosen.sizeClass, timeoutMs, reason, alternatives);
}

function smallerClassOf(
  situation: Situation,
  { sizeClass }: OfferedClass,
  baselineMs: number | undefined,
  settings: SizeClassSettings,
): SmallerClass {
  const largest = greatestOf(situation).sizeClass;
  const { acceptableIncreaseExponent: exponent, minimumAcceptableMs: minimum } = settings;
  const acceptable =
    baselineMs === undefined
      ? minimum
      : Math.max(minimum, acceptableMs(baselineMs, largest, sizeClass, exponent));
  const trials = trialsWithin(runsOn(situation, sizeClass), acceptable);
  return { sizeClass, acceptableMs: acceptable, trials };
}

function runsOn(situation: Situation, sizeClass: number) {
  return situation.histories[0]?.runs.get(sizeClass);
}

function smallerDrawn(
  candidate: SmallerClass,
  chance: string,
  timeoutMs: number,
  isWithoutBaseline: boolean,
): Reason {
  const without = isWithoutBaseline ? " There is no data about the largest class yet." : "";
  if (candidate.trials.count === 0) {
    return {
      kind: "exploring",
      text: `No run on class ${candidate.sizeClass} shows yet whether it stays within the acceptable ${seconds(candidate.acceptableMs)}, so it is tried there for ${seconds(timeoutMs)}.${without}`,
    };
  }
  return {
    kind: "drawn",
    text: `Drawn with ${chance}: ${inTrials(candidate)}.${without}`,
  };
}

function largestDrawn(
  { sizeClass }: OfferedClass,
  chance: string,
  candidates: readonly SmallerClass[],
): Reason {
  return {
    kind: "drawn",
    text: `Class ${sizeClass} is left with ${chance}: ${candidates.map(inTrials).join("; ")}.`,
  };
}

/** "in 32 runs on class 1, 30 were within the acceptable 169.7 s" */
function inTrials({ sizeClass, acceptableMs, trials }: SmallerClass): string {
  const were = trials.successes === 1 ? "was" : "were";
  return `in ${counted(trials.count, "run")} on class ${sizeClass}, ${trials.successes} ${were} within the acceptable ${seconds(acceptableMs)}`;
}

function alternativeOf(
  plain: Alternative,
  probability: number,
  candidate: SmallerClass | undefined,
): Alternative {
  if (candidate === undefined) return { ...plain, probability };
  const { trials } = candidate;
  return {
    ...plain,
    probability,
    risk: trials.count === 0 ? null : 1 - trials.successes / trials.count,
    remark:
      trials.count === 0
        ? `not tried yet; acceptable within ${seconds(candidate.acceptableMs)}`
        : inTrials(candidate),
  };
}
