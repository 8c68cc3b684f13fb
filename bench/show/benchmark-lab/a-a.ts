import {
  type DrawProcess,
  independent,
  simulateComparisons,
} from "#comparison/simulate-comparisons.ts";
import { atMost, forInformation, type Measurement } from "../row.ts";
import { compared, openBench, variation } from "./real-processes.ts";

const real = 100;
const simulated = 3_000;
const recorded = 200;
/** P-values of a true null are uniform: of 100 comparisons one may well be confirmed by chance where 0.1 % may. */
const mostFalse = 0.1;

export const sameArtifact: Measurement = {
  title: "A/A: one artifact against itself",
  long: false,
  async measure() {
    const bench = await openBench([1]);
    try {
      const times: number[] = [];
      let claimed = 0;
      let confirmed = 0;
      let clear = 0;
      for (let i = 0; i < real; i++) {
        const judged = await compared(bench, 1, `a/a ${i}`);
        claimed += judged.claimed ? 1 : 0;
        confirmed += judged.confirmed === true ? 1 : 0;
        clear += judged.verdict === "no-change" ? 1 : 0;
      }
      while (times.length < recorded) {
        const pairs = await bench.pairs(1, `recorded ${times.length}`);
        times.push(...pairs.flatMap(({ child, parent }) => [child, parent]));
      }
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
      const draw: DrawProcess = (random) =>
        (times[Math.floor(random() * times.length)] ?? mean) / mean;
      const simulation = simulateComparisons({
        trials: simulated,
        shift: 0,
        open: independent(draw),
        seed: 6,
      });
      const how = `user time of a short program in awk; 5, 10, 20 pairs, a rerun where a change is claimed; process noise ${(100 * variation(times)).toFixed(1)} %`;
      return [
        atMost(
          `A/A: false alarms after confirmation, ${simulated} simulated`,
          100 * simulation.confirmed,
          mostFalse,
          "%",
          `processes drawn from ${times.length} recorded ones; ${(100 * simulation.claimed).toFixed(2)} % were claimed before the rerun`,
        ),
        atMost(
          `A/A: false alarms after confirmation, ${real} real`,
          (100 * confirmed) / real,
          mostFalse,
          "%",
          `${how}; ${claimed} were claimed before the rerun`,
        ),
        forInformation("A/A: real ones told to be without change", clear, `of ${real}`, how),
        forInformation("A/A: process noise", 100 * variation(times), "%", how),
      ];
    } finally {
      await bench.close();
    }
  },
};
