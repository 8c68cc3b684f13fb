import type { Reason } from "../choice.ts";
import { type ClassEstimate, type Estimate, estimate, moreThan } from "../estimate/estimate.ts";
import { tail } from "../estimate/log-normal.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { EndedRun, Next, OfferedClass, Situation } from "../strategy.ts";
import { percent, seconds } from "./figures-in-words.ts";
import { choiceOf } from "./grange-choice.ts";
import { doubtAbout } from "./grange-doubt.ts";
import { costedPaths, priceOfWaiting } from "./grange-price.ts";

/** Returns what follows for an execution after a run. */
export function afterRun(
  situation: Situation,
  runs: readonly EndedRun[],
  settings: SizeClassSettings,
): Next {
  const last = runs.at(-1);
  if (last === undefined || last.end === "succeeded") return { kind: "final" };
  const known = estimate(situation.histories, situation.classes, situation.timeoutMs);
  const on = known.classes.find(({ offered }) => offered.sizeClass === last.sizeClass);
  const again = (place: number, reason: Reason, timeoutMs?: number): Next => ({
    kind: "again",
    choice: choiceOf(
      situation,
      settings,
      known,
      costedPaths(known, priceOfWaiting(situation.classes, settings)),
      place,
      reason,
      { ...(timeoutMs !== undefined && { timeoutMs }), mayHedge: false },
    ),
  });
  const greater = known.classes.filter(({ offered }) => offered.sizeClass > last.sizeClass);
  const placeOf = (chosen: ClassEstimate) => known.classes.indexOf(chosen);

  if (last.end === "lost") {
    // A worker may have died because the action used its memory.
    const isSuspect =
      on === undefined || known.own === undefined || known.own.teaches.memory.length === 0
        ? (on?.offered.memoryBytes ?? 0) !== Number.POSITIVE_INFINITY
        : on.memoryRisk > suspectRisk;
    const chosen = isSuspect
      ? (greater.find((each) => each.memoryRisk <= suspectRisk) ?? greater.at(-1) ?? on)
      : (on ?? greater[0]);
    if (chosen === undefined) return { kind: "final" };
    const text = isSuspect
      ? `Its worker of class ${last.sizeClass} was lost after ${seconds(last.durationMs)}, perhaps because it had too little memory.`
      : `Its worker of class ${last.sizeClass} was lost after ${seconds(last.durationMs)}; memory was not short there (${percent(on?.memoryRisk ?? 0)}).`;
    return again(placeOf(chosen), { kind: "retry-after-lost-worker", text });
  }
  if (greater.length === 0) return { kind: "final" };

  if (last.end === "out_of_memory") {
    const chosen = leastCost(
      greater,
      (each) => lacksMemory(last, on, each, known),
      settings,
      situation,
    );
    return again(placeOf(chosen), {
      kind: "retry-after-out-of-memory",
      text: `It ran out of memory on class ${last.sizeClass} after ${seconds(last.durationMs)}; class ${chosen.offered.sizeClass} has ${ratio(chosen.offered, on?.offered)} times as much.`,
    });
  }
  if (last.end === "timed_out") {
    // A run that used all of its time must not be stopped a second time when more time is possible.
    const hadAll = last.timeoutMs >= situation.timeoutMs;
    const chosen = hadAll
      ? (greater.at(-1) as ClassEstimate)
      : leastCost(
          greater,
          (each) =>
            tail(
              { ...known.work, mu: Math.log(2 * last.durationMs) },
              situation.timeoutMs / each.slowness,
            ),
          settings,
          situation,
        );
    return again(
      placeOf(chosen),
      {
        kind: "retry-after-timeout",
        text: `It did not end on class ${last.sizeClass} within ${seconds(last.durationMs)}; class ${chosen.offered.sizeClass} has all the requested ${seconds(situation.timeoutMs)}.`,
      },
      situation.timeoutMs,
    );
  }
  const doubt = doubtAbout(last, on, known);
  if (doubt === undefined) return { kind: "final" };
  const chosen =
    doubt === "memory"
      ? leastCost(greater, (each) => lacksMemory(last, on, each, known), settings, situation)
      : (greater.at(-1) as ClassEstimate);
  const why =
    doubt === "memory"
      ? `with ${percent((last.peakMemoryBytes ?? 0) / (on?.offered.memoryBytes ?? 1))} of its memory in use`
      : doubt === "unmeasured"
        ? "and its memory was not measured"
        : "and may have been too slow there";
  return again(
    placeOf(chosen),
    {
      kind: "retry-after-failure",
      text: `It failed on class ${last.sizeClass} after ${seconds(last.durationMs)} (exit code ${last.exitCode ?? "unknown"}), ${why}.`,
    },
    situation.timeoutMs,
  );
}

/** With a higher risk than this, a lost worker may have been lost because of too little memory. */
const suspectRisk = 0.02;

/** The weight of the guess, in runs of the action itself. */
const guessesWeigh = 0.5;

/**
 * Returns the probability that a run needs more memory than a larger class has, given that it needed more than this
 * one.
 *
 * From the action's own runs that needed more; without such runs, half for each doubling.
 */
function lacksMemory(
  last: EndedRun,
  on: ClassEstimate | undefined,
  { offered: { memoryBytes } }: ClassEstimate,
  { memory, own: ofAction }: Estimate,
): number {
  const had = on?.offered.memoryBytes ?? last.peakMemoryBytes ?? 0;
  if (memoryBytes === Number.POSITIVE_INFINITY) return 0;
  if (memoryBytes <= had) return 1;
  const runs = ofAction?.runs ?? 0;
  const had2 = runs * moreThan(memory, had);
  const lacks = runs * moreThan(memory, memoryBytes);
  return (lacks + (guessesWeigh * had) / memoryBytes) / (had2 + guessesWeigh);
}

function leastCost(
  greater: readonly ClassEstimate[],
  riskOn: (each: ClassEstimate) => number,
  settings: SizeClassSettings,
  situation: Situation,
): ClassEstimate {
  const waiting = priceOfWaiting(situation.classes, settings);
  const greatest = greater.at(-1) as ClassEstimate;
  const costOf = ({ offered, expectedMs }: ClassEstimate) =>
    (offered.price + waiting) * expectedMs + waiting * offered.waitMs;
  let best = greatest;
  let least = costOf(greatest);
  for (const each of greater.slice(0, -1)) {
    const risk = riskOn(each);
    if (risk >= 0.95) continue;
    const cost = costOf(each) + risk * costOf(greatest);
    if (cost < least) {
      least = cost;
      best = each;
    }
  }
  return best;
}

function ratio(one: OfferedClass, other: OfferedClass | undefined): string {
  if (other === undefined) return "some";
  const times = one.memoryBytes / other.memoryBytes;
  return Number.isFinite(times) ? `${Number(times.toFixed(1))}` : "many";
}
