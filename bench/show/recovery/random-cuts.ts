import { cutAtRandom } from "../../../test/faults/cut-at-random.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const randomCuts: Measurement = {
  title: "partitions of the network, at random",
  long: false,
  measure: () => measure(6),
};

export const manyRandomCuts: Measurement = {
  title: "partitions of the network, 100 at random",
  long: true,
  measure: () => measure(100),
};

async function measure(cuts: number): Promise<Row[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { violations, jobs, progressMs } = await cutAtRandom({ cuts, graphsEach: 3, seed });
  const how =
    `${cuts} partitions of 1 to 20 s between a server and one or both of its workers, in network namespaces: one way, ` +
    `both ways or flapping, while ${jobs} jobs ran, seed ${seed}; judged by what clients saw${firstOf(violations)}`;
  return [
    exactly(`promises broken by ${cuts} partitions`, violations.length, 0, "", how),
    atMost(
      "from the healing until every worker has run a new job, at most",
      Math.max(...progressMs) / 1_000,
      30,
      "s",
      `the same run; median ${(quantile(progressMs, 0.5) / 1_000).toFixed(1)} s`,
    ),
  ];
}
