import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type StrategyName, strategyNames } from "#size-classes/strategy.ts";
import type { DecisionSpeed, Histories } from "../../size-class-decisions.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";

const decisions = 1_000_000;
const leastPerSecond = 20_000;
/** The size of a heap varies by a few MiB; half a million retained objects of any kind would be more. */
const mostGrownMiB = 16;
const how = `${decisions.toLocaleString("en")} decisions in a process of their own, 4 classes, 32 outcomes each, 256 keys; by CPU time`;

export const millionDecisions: Measurement = {
  title: "a million decisions",
  long: false,
  async measure() {
    const rows: Row[] = [];
    for (const strategy of strategyNames) {
      const speed = await measured(strategy, "own");
      rows.push(
        fastEnough(speed),
        atMost(
          `a million decisions, ${strategy}: memory grown in the second half`,
          speed.grownBytes / 2 ** 20,
          mostGrownMiB,
          "MiB",
          `the same run; ${Math.round(speed.largestBytes / 2 ** 20)} MiB at most`,
        ),
      );
    }
    for (const histories of ["anew", "known"] as const) {
      const { perCoreSecond } = await measured("grange", histories);
      rows.push(
        forInformation(
          `a million decisions, grange, ${histories === "anew" ? "all four histories read anew" : "histories all known"}`,
          perCoreSecond,
          "decisions/s a core",
          how,
        ),
      );
    }
    return rows;
  },
};

function fastEnough({ strategy, perCoreSecond, perSecond }: DecisionSpeed): Row {
  return {
    name: `a million decisions, ${strategy}`,
    figure: perCoreSecond,
    unit: "decisions/s a core",
    goal: `≥ ${leastPerSecond}`,
    holds: perCoreSecond >= leastPerSecond,
    how: `${how}, the action's own history read anew, those it shares known; ${perSecond}/s by the clock`,
  };
}

/** In a separate process, so that each strategy has its own heap. */
async function measured(strategy: StrategyName, histories: Histories): Promise<DecisionSpeed> {
  const bench = join(import.meta.dirname, "..", "..", "size-class-decisions.ts");
  const args = [...process.execArgv, bench, strategy, String(decisions), histories];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as DecisionSpeed;
}
