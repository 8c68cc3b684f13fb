import { measureFanOut } from "../../fan-out.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement } from "../row.ts";

const repeats = 5;

export const fanOut: Measurement = {
  title: "one job finishes with 1,000 dependents",
  long: false,
  async measure() {
    const times: number[] = [];
    for (let i = 0; i < repeats; i++) times.push(await measureFanOut(1_000));
    return [
      atMost(
        "one job finishes with 1,000 dependents: the transaction",
        quantile(times, 0.5),
        100,
        "ms",
        `from its lease's end to the commit that makes all of them ready; median of ${repeats}, worst ${Math.max(...times).toFixed(0)} ms`,
      ),
    ];
  },
};
