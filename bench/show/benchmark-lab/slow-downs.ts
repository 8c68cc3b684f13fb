import {
  type DrawProcess,
  independent,
  simulateComparisons,
} from "#comparison/simulate-comparisons.ts";
import { forInformation, type Measurement, type Row } from "../row.ts";
import { compared, openBench, variation } from "./real-processes.ts";

const each = 20;
const slower = [1.02, 1.03, 1.05];
const recorded = 100;
const trials = 1_000;

export const slowDowns: Measurement = {
  title: "injected slow-downs",
  long: false,
  async measure() {
    const bench = await openBench([1, ...slower]);
    try {
      const times: number[] = [];
      while (times.length < recorded) {
        const pairs = await bench.pairs(1, `recorded ${times.length}`);
        times.push(...pairs.flatMap(({ child, parent }) => [child, parent]));
      }
      const noise = variation(times);
      const rows: Row[] = [];
      for (const factor of slower) {
        let found = 0;
        for (let i = 0; i < each; i++) {
          const judged = await compared(bench, factor, `${factor} ${i}`);
          if (judged.confirmed === true && judged.verdict === "regressed") found++;
        }
        rows.push(realRow(factor - 1, found, noise));
      }
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
      const draw: DrawProcess = (random) =>
        (times[Math.floor(random() * times.length)] ?? mean) / mean;
      for (const [multiple, least] of [
        [2, 75],
        [3, 99],
      ] as const) {
        const { confirmed } = simulateComparisons({
          trials,
          shift: multiple * noise,
          open: independent(draw),
          seed: 6 + multiple,
        });
        rows.push({
          name: `slow-downs of ${multiple}× the process noise: found`,
          figure: Math.round(1_000 * confirmed) / 10,
          unit: "%",
          goal: `≥ ${least} %`,
          holds: 100 * confirmed >= least,
          how: `${trials} comparisons, processes drawn from ${times.length} recorded ones, whose noise is ${(100 * noise).toFixed(1)} %; confirmed by a rerun`,
        });
      }
      return rows;
    } finally {
      await bench.close();
    }
  },
};

/**
 * The goal applies to changes that are large enough for this machine's noise; for smaller ones the share is only
 * reported.
 */
function realRow(shift: number, found: number, noise: number): Row {
  const multiple = shift / noise;
  const least = multiple >= 3 ? 99 : multiple >= 2 ? 75 : undefined;
  const share = (100 * found) / each;
  const name = `slow-downs of ${(100 * shift).toFixed(0)} % in real processes: found`;
  const how = `${each} comparisons of programs that do so much more, user time, confirmed by a rerun; that is ${multiple.toFixed(1)}× the process noise of ${(100 * noise).toFixed(1)} %`;
  if (least === undefined) return forInformation(name, share, "%", how);
  return { name, figure: share, unit: "%", goal: `≥ ${least} %`, holds: share >= least, how };
}
