import { startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { atMost, forInformation, type Measurement } from "../row.ts";
import { type Executed, executionClient } from "./execution-client.ts";

const jobs = 500;
const warmUp = 20;

export const startLatency: Measurement = {
  title: "submit to start",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 1 });
    const client = executionClient(farm.url);
    try {
      const executed: Executed[] = [];
      for (let i = 0; i < warmUp + jobs; i++) {
        const execute = await client.prepare();
        const one = await execute();
        if (i >= warmUp) executed.push(one);
      }
      const how = `${jobs} no-op actions one by one, one idle worker, REv2 Execute over gRPC; timestamps of one machine`;
      const of = (part: (one: Executed) => number, q: number) => quantile(executed.map(part), q);
      return [
        atMost(
          "submit → taken up by the worker, p50",
          of((e) => e.takenUpMs, 0.5),
          5,
          "ms",
          how,
        ),
        atMost(
          "submit → taken up by the worker, p99",
          of((e) => e.takenUpMs, 0.99),
          25,
          "ms",
          how,
        ),
        forInformation(
          "submit → process started in its sandbox, p50",
          of((e) => e.startedMs, 0.5),
          "ms",
          how,
        ),
        forInformation(
          "submit → process started in its sandbox, p99",
          of((e) => e.startedMs, 0.99),
          "ms",
          how,
        ),
        forInformation(
          "submit → answered, p50",
          of((e) => e.answeredMs, 0.5),
          "ms",
          how,
        ),
        forInformation(
          "submit → answered, p99",
          of((e) => e.answeredMs, 0.99),
          "ms",
          how,
        ),
      ];
    } finally {
      await client.close();
      await farm.stop();
    }
  },
};
