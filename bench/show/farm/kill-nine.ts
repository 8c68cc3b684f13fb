import { killWhileRunning, victims } from "../../../test/faults/kill-while-running.ts";
import { quantile } from "../quantile.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";

const rounds = 10;

export const killNine: Measurement = {
  title: "kill -9",
  long: true,
  async measure() {
    const rows: Row[] = [];
    for (const victim of victims) {
      const after = await killWhileRunning(victim, rounds);
      const good = after.filter(
        ({ graph, run, log }) =>
          graph.state === "succeeded" &&
          run?.number === 1 &&
          run.outcome === "succeeded" &&
          log.match(/^end/gm)?.length === 1,
      );
      const how = `SIGKILL while a job of three runs; green, one run, one published result; ${rounds} rounds on one farm`;
      rows.push(
        exactly(`kill -9 of the ${victim}: ends green`, good.length, rounds, "of 10", how),
        forInformation(
          `kill -9 of the ${victim}: to green, median`,
          quantile(
            after.map(({ ms }) => ms / 1_000),
            0.5,
          ),
          "s",
          "from the signal to the graph's end; the job itself takes 1 s",
        ),
      );
    }
    return rows;
  },
};
