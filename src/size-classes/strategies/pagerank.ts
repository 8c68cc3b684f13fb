import type { Alternative, Choice, Reason } from "../choice.ts";
import { historySize, type PastRun } from "../past-run.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { BackgroundRun, EndedRun, Situation, Strategy } from "../strategy.ts";
import { classAt, greatestOf } from "./class-at.ts";
import { counted, percent, seconds } from "./figures-in-words.ts";
import { medianSuccessMs } from "./median.ts";
import { limitsOf } from "./pagerank-outcomes.ts";
import { type Plan, planOf, type Ranked, type RankedClass } from "./pagerank-plan.ts";
import { expectedMs, plainAlternatives, plainChoice } from "./plain-choice.ts";
import { retryOnLargest } from "./retry-on-largest.ts";
import { boostedChoice, onlyChoice } from "./undrawn-choices.ts";
import { drawnPlace } from "./walk-classes.ts";

/**
 * Buildbarn's present strategy (commit 6db5090, 2026-07-13): the stationary distribution of "this class was faster than
 * that one". Its weaknesses are kept; docs/decisions/0027-size-class-strategies.md names them.
 */
export function pagerankStrategy(settings: SizeClassSettings): Strategy {
  return {
    name: "pagerank",
    choose: (situation) =>
      onlyChoice(situation) ??
      boostedChoice(situation, settings) ??
      planned(situation, planOf(situation, settings)),
    afterwards(situation, first, runs) {
      const next = retryOnLargest(situation, runs);
      if (next.kind === "again") return next;
      const background = backgroundRun(situation, settings, first.backgroundSizeClass, runs.at(-1));
      return background === undefined ? next : { kind: "final", background };
    },
  };
}

function planned(situation: Situation, plan: Plan): Choice {
  const { sizeClass: largest } = greatestOf(situation);
  switch (plan.kind) {
    case "first-look": {
      const { sizeClass } = classAt(situation, plan.place);
      const reason = {
        kind: "exploring",
        text: `Nothing has succeeded on class ${largest} yet, and nothing is known of class ${sizeClass}: it is tried there for ${seconds(plan.timeoutMs)}.`,
      } as const;
      const alternatives = certain(situation, plan.place);
      return plainChoice(sizeClass, plan.timeoutMs, reason, alternatives);
    }
    case "largest-untried": {
      const reason = {
        kind: "exploring",
        text: `Nothing has succeeded on class ${largest} yet, and all smaller classes were tried: class ${largest} is next.`,
      } as const;
      const alternatives = certain(situation, situation.classes.length - 1);
      return plainChoice(largest, situation.timeoutMs, reason, alternatives);
    }
    case "probe": {
      const { sizeClass } = classAt(situation, plan.place);
      const reason = {
        kind: "exploring",
        text: `Nothing is known of class ${sizeClass}, and ${plan.place === 0 ? "no class is smaller" : "it probably fails on the class below"}: it runs on class ${largest}, and after success on class ${sizeClass} in the background.`,
      } as const;
      const alternatives = certain(situation, plan.place, "in the background");
      return plainChoice(largest, situation.timeoutMs, reason, alternatives, {
        backgroundSizeClass: sizeClass,
      });
    }
    case "ranked":
      return drawnChoice(situation, plan);
  }
}

function drawnChoice(situation: Situation, plan: Ranked): Choice {
  const place = drawnPlace(plan.probabilities, situation.draw);
  const drawn = classAt(situation, place);
  const ranked = plan.smaller[place];
  const chance = percent(plan.probabilities[place] ?? 0);
  const pageRank = new Map(
    situation.classes.map(({ sizeClass }, i) => [sizeClass, plan.probabilities[i] ?? 0]),
  );
  const alternatives = plainAlternatives(situation).map((plain, i) =>
    rankedAlternative(plain, plan.probabilities[i] ?? 0, plan.smaller[i]),
  );
  const { sizeClass: largest } = greatestOf(situation);
  if (ranked === undefined || ranked.isBackground) {
    const text =
      ranked === undefined
        ? `Drawn with ${chance}: ${counted(plan.largest.successesMs.length, "run")} on class ${largest} succeeded, with a median of ${seconds(plan.medianOnLargestMs)}.`
        : `Class ${drawn.sizeClass} was drawn with ${chance}, but ${inOutcomes(ranked)}: it runs on class ${largest}, and after success on class ${drawn.sizeClass} in the background.`;
    return plainChoice(largest, situation.timeoutMs, { kind: "drawn", text }, alternatives, {
      backgroundSizeClass: ranked && drawn.sizeClass,
      pageRank,
    });
  }
  const reason: Reason = {
    kind: "drawn",
    text: `Class ${drawn.sizeClass} was drawn with ${chance}: ${inOutcomes(ranked)}.`,
  };
  const { timeoutMs } = ranked.limits;
  return plainChoice(drawn.sizeClass, timeoutMs, reason, alternatives, { pageRank });
}

/** "of 32 outcomes there, 30 were below the acceptable 169.7 s" */
function inOutcomes({ outcomes, limits }: RankedClass): string {
  const fast = outcomes.successesMs.length;
  const count = fast + outcomes.failures;
  if (count === 0)
    return `no outcome there says anything about the acceptable ${seconds(limits.acceptableMs)} yet`;
  return `of ${counted(count, "outcome")} there, ${fast} ${fast === 1 ? "was" : "were"} below the acceptable ${seconds(limits.acceptableMs)}`;
}

function rankedAlternative(
  plain: Alternative,
  probability: number,
  ranked: RankedClass | undefined,
): Alternative {
  if (ranked === undefined) return { ...plain, probability };
  const { failures, successesMs } = ranked.outcomes;
  const count = failures + successesMs.length;
  return {
    ...plain,
    probability,
    risk: count === 0 ? null : failures / count,
    remark: `${inOutcomes(ranked)}${ranked.isBackground ? "; in the background" : ""}`,
  };
}

/** Without a random draw: one class is certain. */
function certain(situation: Situation, place: number, remark?: string): Alternative[] {
  return plainAlternatives(situation).map((plain, i) => ({
    ...plain,
    probability: i === place ? 1 : 0,
    ...(i === place && remark !== undefined ? { remark } : {}),
  }));
}

/**
 * After a success on the largest class: counts this success, because the acceptable time is then more recent.
 *
 * The histories do not contain the current execution yet.
 */
function backgroundRun(
  situation: Situation,
  settings: SizeClassSettings,
  sizeClass: number | undefined,
  last: EndedRun | undefined,
): BackgroundRun | undefined {
  const { sizeClass: largest } = greatestOf(situation);
  if (sizeClass === undefined || last?.end !== "succeeded" || last.sizeClass !== largest) return;
  // The class may no longer exist.
  if (sizeClass >= largest || !situation.classes.some((each) => each.sizeClass === sizeClass)) {
    return;
  }
  const now: PastRun = { ...last, end: "succeeded", at: situation.now };
  const known = situation.histories[0]?.runs.get(largest) ?? [];
  const median = medianSuccessMs([...known, now].slice(-historySize)) ?? last.durationMs;
  const { timeoutMs } = limitsOf(sizeClass, largest, median, situation.timeoutMs, settings);
  const medianThere = medianSuccessMs(situation.histories[0]?.runs.get(sizeClass));
  return { sizeClass, timeoutMs, expectedMs: expectedMs(medianThere, timeoutMs) };
}
