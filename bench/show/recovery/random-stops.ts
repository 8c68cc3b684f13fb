import { stopAtRandom } from "../../../test/faults/stop-at-random.ts";
import { exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const randomStops: Measurement = {
  title: "suspended for longer than a lease",
  long: false,
  measure: () => measure(10),
};

export const manyRandomStops: Measurement = {
  title: "suspended for longer than a lease, 300 times",
  long: true,
  measure: () => measure(300),
};

async function measure(stops: number): Promise<Row[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { violations, jobs } = await stopAtRandom({ stops, graphsEach: 3, seed });
  const how =
    `${stops} times SIGSTOP for 16 to 19 s (a lease lasts 15 s) of the server, a worker or all processes of PostgreSQL ` +
    `while ${jobs} jobs ran, seed ${seed}; judged by what clients saw${firstOf(violations)}`;
  return [exactly(`promises broken by ${stops} stops`, violations.length, 0, "", how)];
}
