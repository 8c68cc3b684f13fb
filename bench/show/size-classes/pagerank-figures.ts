import type { KeyHistory } from "#size-classes/key-history.ts";
import { historySize, type PastRun } from "#size-classes/past-run.ts";
import { defaultSettings } from "#size-classes/settings.ts";
import { fasterProbability, transitions } from "#size-classes/strategies/pagerank-comparison.ts";
import { limitsOf, type Outcomes } from "#size-classes/strategies/pagerank-outcomes.ts";
import { planOf, type Ranked } from "#size-classes/strategies/pagerank-plan.ts";
import { powerIteration } from "#size-classes/strategies/power-iteration.ts";
import { exactly, type Measurement, type Row } from "../row.ts";

const halfAnHour = 1_800_000;

/** The known figures of Buildbarn's present strategy, computed again with Grange's implementation. */
export const pagerankFigures: Measurement = {
  title: "PageRank figures",
  long: false,
  async measure() {
    const full = times((i) => 60_000 + i * 100);
    const lost = times(() => undefined);
    const pair = ranked({ 1: full, 8: full });
    const small = pair.probabilities[0] ?? 0;
    const large = pair.probabilities[1] ?? 0;
    const four = ranked({ 1: lost, 2: lost, 4: full, 8: full });
    const once = times((i) => 1_000 + i).slice(0, 1);
    return [
      figure(
        "acceptable on 1, 2 and 4",
        [1, 2, 4]
          .map((each) => limitsOf(each, 8, 60_000, halfAnHour, defaultSettings).acceptableMs)
          .map((ms) => Number((ms / 1_000).toFixed(1)))
          .join(" / "),
        "169.7 / 120 / 84.9",
        "s",
        "x = 0.5, a median of 60 s on class 8",
      ),
      figure(
        "a certain loser",
        percent(fasterProbability({ successesMs: [], failures: 32 }, sample(32))),
        "1.56",
        "%",
        "32 outcomes each: 33 / 2114",
      ),
      figure(
        "equal times",
        powerIteration(transitions([sample(9), sample(9)]), [0.5, 0.5], 0.002)
          .probabilities.map((each) => each * 100)
          .join(" / "),
        "50 / 50",
        "%",
        "two classes with the same normalised outcomes",
      ),
      figure(
        "steps of two classes",
        pair.steps,
        2,
        "",
        "32 outcomes each, from one half, to an error of 0.002",
      ),
      figure(
        "P(small) − P(small is faster)",
        Number(Math.abs(small - (1 - 33 / 2114)).toFixed(12)),
        0,
        "",
        "the same two classes",
      ),
      figure(
        "what exploring class 8 adds to class 1",
        Math.round((small + 8 * large - 1) * 100),
        11,
        "%",
        "a single-threaded action, price by class number",
      ),
      figure(
        "four classes, two hopeless",
        four.probabilities.map((each) => Number((each * 100).toFixed(1))).join(" / "),
        "0.8 / 0.8 / 95.3 / 3.2",
        "%",
        "32 outcomes each, from one half",
      ),
      figure(
        "one success on the least and the greatest of four",
        ranked({ 1: once, 2: [], 4: [], 8: once })
          .probabilities.map((each) => each.toFixed(2))
          .join(" / "),
        "0.19 / 0.33 / 0.33 / 0.14",
        "",
        "as Buildbarn's own test has it, to two digits",
      ),
    ];
  },
};

function figure(
  name: string,
  value: number | string,
  wanted: number | string,
  unit: string,
  how: string,
): Row {
  return exactly(`PageRank figures: ${name}`, value, wanted, unit, how);
}

function percent(probability: number): string {
  return (probability * 100).toFixed(2);
}

function sample(count: number): Outcomes {
  return { successesMs: Array.from({ length: count }, (_, i) => i + 1), failures: 0 };
}

/** All stored runs of a class; undefined is a failure. */
function times(ofMs: (place: number) => number | undefined): PastRun[] {
  return Array.from({ length: historySize }, (_, place) => {
    const ms = ofMs(place);
    const end = ms === undefined ? "failed" : "succeeded";
    return { end, durationMs: ms ?? 0, timeoutMs: halfAnHour, at: 0 };
  });
}

function ranked(runs: Readonly<Record<number, readonly PastRun[]>>): Ranked {
  const bySizeClass = new Map(Object.entries(runs).map(([key, of]) => [Number(key), of]));
  const history: KeyHistory = {
    key: "a:figures",
    level: "action",
    runs: bySizeClass,
    lastFailureAt: undefined,
    failuresInARow: 0,
    pageRank: new Map(),
  };
  const plan = planOf(
    {
      histories: [history],
      classes: [...bySizeClass.keys()].map((sizeClass) => ({
        sizeClass,
        cpus: sizeClass,
        memoryBytes: Number.POSITIVE_INFINITY,
        price: sizeClass,
        waitMs: 0,
      })),
      timeoutMs: halfAnHour,
      now: 0,
      draw: 0,
    },
    defaultSettings,
  );
  if (plan.kind !== "ranked") throw new Error(`nothing was ranked: ${plan.kind}`);
  return plan;
}
