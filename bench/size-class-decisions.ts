/**
 * How many size classes a core chooses in a second, and whether memory stays constant.
 *
 * `npx tsx bench/size-class-decisions.ts [strategies] [decisions] [own | anew | known]`, by default
 * all strategies, 1,000,000 and own; a JSON line for each strategy. Memory is its own only with one strategy.
 */
import { fileURLToPath } from "node:url";
import { strategyOf } from "#size-classes/choose-strategy.ts";
import type { KeyHistory } from "#size-classes/key-history.ts";
import { historySize, type PastRun } from "#size-classes/past-run.ts";
import { defaultSettings } from "#size-classes/settings.ts";
import { type Situation, type StrategyName, strategyNames } from "#size-classes/strategy.ts";
import { seededDraws } from "../test/support/seeded-draws.ts";

export interface DecisionSpeed {
  readonly strategy: StrategyName;
  readonly histories: Histories;
  readonly decisions: number;
  /** By CPU time of the process, including garbage collection: other processes do not count. */
  readonly perCoreSecond: number;
  readonly perSecond: number;
  /** The difference between the process's peaks in the second half of the decisions and in the first. */
  readonly grownBytes: number;
  readonly largestBytes: number;
}

/**
 * Strategies may cache the digest of a history. `own`: the action's own history is read again for each decision, and
 * those of its target, mnemonic and platform are cached, as within a batch that a server analyzes. `anew`: all four are
 * read again, the worst case; `known`: none is, the best case.
 */
const histories = ["own", "anew", "known"] as const;
export type Histories = (typeof histories)[number];

const keys = 256;
const sizeClasses = [1, 2, 4, 8];
const levels = ["action", "target", "mnemonic", "platform"] as const;
/** Until the code is compiled and the heap has its final size. */
const warmUps = 100_000;

function measureDecisions(
  strategy: StrategyName,
  decisions: number,
  histories: Histories,
): DecisionSpeed {
  const chooser = strategyOf({ ...defaultSettings, strategy });
  const readAnew = { own: 1, anew: levels.length, known: 0 }[histories];
  const random = seededDraws(7);
  const situations = Array.from({ length: keys }, () => aBusySituation(random));
  let chosen = 0;
  const decide = (count: number): number => {
    let largest = 0;
    for (let i = 0; i < count; i++) {
      const situation = situations[i % keys];
      if (situation === undefined) continue;
      const read = situation.histories.map((history, i) =>
        i < readAnew ? { ...history } : history,
      );
      chosen += chooser.choose({ ...situation, histories: read, draw: random() }).sizeClass;
      if (i % 5_000 === 0) largest = Math.max(largest, process.memoryUsage.rss());
    }
    return largest;
  };
  decide(warmUps);

  const cpu = process.cpuUsage();
  const began = performance.now();
  const firstHalf = decide(Math.floor(decisions / 2));
  const secondHalf = decide(Math.ceil(decisions / 2));
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  if (chosen === 0) throw new Error("nothing was chosen");
  return {
    strategy,
    histories,
    decisions,
    perCoreSecond: Math.round(decisions / ((user + system) / 1e6)),
    perSecond: Math.round(decisions / seconds),
    grownBytes: Math.max(0, secondHalf - firstHalf),
    largestBytes: Math.max(firstHalf, secondHalf),
  };
}

/** Four classes with all stored outcomes, and the same for similar actions. */
function aBusySituation(random: () => number): Situation {
  const workMs = 1_000 * random() ** -0.7;
  const parallel = random();
  const history = (level: (typeof levels)[number]): KeyHistory => ({
    key: `${level[0]}:bench`,
    level,
    runs: new Map(
      sizeClasses.map((sizeClass) => [
        sizeClass,
        Array.from({ length: historySize }, () => aRun(sizeClass, workMs, parallel, random)),
      ]),
    ),
    lastFailureAt: undefined,
    failuresInARow: 0,
    pageRank: new Map(),
  });
  return {
    histories: levels.map(history),
    classes: sizeClasses.map((sizeClass) => ({
      sizeClass,
      cpus: sizeClass,
      memoryBytes: sizeClass * 2 ** 32,
      price: sizeClass,
      waitMs: Math.floor(random() * 10_000),
    })),
    timeoutMs: 1_800_000,
    now: Date.parse("2026-09-01T12:00:00Z"),
    draw: 0,
  };
}

function aRun(sizeClass: number, workMs: number, parallel: number, random: () => number): PastRun {
  const durationMs = workMs * (1 - parallel + parallel / sizeClass) * (0.8 + 0.4 * random());
  return {
    end: random() < 0.05 ? "failed" : "succeeded",
    durationMs,
    timeoutMs: 1_800_000,
    cpuMs: workMs,
    peakMemoryBytes: 2 ** 30 * (1 + random()),
    at: Date.parse("2026-08-31T12:00:00Z"),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  const named = strategyNames.filter((name) => asked.includes(name));
  const decisions = Number(asked.find((arg) => /^\d+$/.test(arg)) ?? 1_000_000);
  const read = histories.find((each) => asked.includes(each)) ?? "own";
  for (const name of named.length === 0 ? strategyNames : named) {
    process.stdout.write(`${JSON.stringify(measureDecisions(name, decisions, read))}\n`);
  }
}
