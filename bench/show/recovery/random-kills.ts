import { killAtRandom } from "../../../test/faults/history/random-kills.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

/** Half an hour of kills on two cores: a table of all thousand would take a day. */
const sizes = {
  gate: { kills: 30, graphs: 100 },
  long: { kills: 300, graphs: 1_000 },
} as const;

export const randomKills: Measurement = {
  title: "kill -9 at random",
  long: false,
  measure: () => measure(sizes.gate),
};

export const manyRandomKills: Measurement = {
  title: "kill -9 at random, ten times as often",
  long: true,
  measure: () => measure(sizes.long),
};

async function measure(size: { readonly kills: number; readonly graphs: number }): Promise<Row[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { violations, jobs, kills, readyAgainMs } = await killAtRandom({ ...size, seed });
  const how =
    `${kills} kills of the server, a worker, the postmaster, a backend or everything while ${jobs} jobs ran in the default ` +
    `sandbox, seed ${seed}; judged by what clients saw: none lost, doubled, mixed or hanging${firstOf(violations)}`;
  return [
    exactly(`promises broken by ${kills} kills`, violations.length, 0, "", how),
    atMost(
      `ready again after a kill of the server, p99, ${readyAgainMs.length} times`,
      quantile(readyAgainMs, 0.99) / 1_000,
      10,
      "s",
      `the same run; median ${(quantile(readyAgainMs, 0.5) / 1_000).toFixed(1)} s`,
    ),
  ];
}
