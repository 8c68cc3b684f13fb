import { losePower } from "../../../test/faults/power-loss.ts";
import { faultyDiskNeeds } from "../../../test/support/faulty-disk.ts";
import { quantile } from "../quantile.ts";
import { requireNeeds } from "../require-needs.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const powerLosses: Measurement = {
  title: "power loss with unsynced writes dropped",
  long: false,
  measure: () => measure(20),
};

export const manyPowerLosses: Measurement = {
  title: "power loss with unsynced writes dropped, 300 times",
  long: true,
  measure: () => measure(300),
};

async function measure(losses: number): Promise<Row[]> {
  requireNeeds(faultyDiskNeeds());
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { violations, graphs, uploads, readyAgainMs } = await losePower({ losses, seed });
  const how =
    `${losses} times an ext4 under the whole data directory stopped without writing out its memory (EXT4_IOC_SHUTDOWN), everything was ` +
    `killed, and the farm was started again; durable blobs; ${graphs} graphs and ${uploads} uploads were acknowledged, ` +
    `seed ${seed}; judged by what clients saw${firstOf(violations)}`;
  return [
    exactly(`acknowledged and lost in ${losses} power failures`, violations.length, 0, "", how),
    forInformation(
      "ready again after the power is back, median",
      quantile(readyAgainMs, 0.5) / 1_000,
      "s",
      `the same run; at most ${(Math.max(...readyAgainMs) / 1_000).toFixed(1)} s`,
    ),
  ];
}
