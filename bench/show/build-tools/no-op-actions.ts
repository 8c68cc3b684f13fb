import { setTimeout as sleep } from "node:timers/promises";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { type Executed, type ExecutionClient, executionClient } from "../farm/execution-client.ts";
import { quantile } from "../quantile.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";

const actions = 1_000;
const warmUps = 40;
const inFlight = 100;
/** Work that is postponed until an answer is sent is complete by then: sandboxes prepared, places removed. */
const restMs = 50;
const rested = 200;

/** The farm's overhead per action, and its throughput, as a build tool sees them. */
export const noOpActions: Measurement = {
  title: "1,000 no-op actions, two workers",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 2 });
    try {
      return await measureOn(farm);
    } finally {
      await farm.stop();
    }
  },
};

async function measureOn(farm: Farm): Promise<Row[]> {
  const client = executionClient(farm.url);
  try {
    await run(client, warmUps, 2);
    const { executed } = await run(client, actions, 1);
    const { executed: afterRests } = await run(client, rested, 1, restMs);
    const { seconds } = await run(client, actions, inFlight);
    const overheadOf = ({ answeredMs, processMs }: Executed) => answeredMs - processMs;
    const overheads = executed.map(overheadOf);
    const answers = executed.map(({ answeredMs }) => answeredMs);
    const one = `${actions} no-op actions one by one through Execute, two workers with a slot for each CPU, all on this machine`;
    const overhead = `${one}; Execute to answer, less the process and the making of its sandbox`;
    return [
      atMost("no-op action: overhead, p50", quantile(overheads, 0.5), 8, "ms", overhead),
      forInformation("no-op action: overhead, p99", quantile(overheads, 0.99), "ms", overhead),
      forInformation(
        "no-op action: overhead after a rest, p50",
        quantile(afterRests.map(overheadOf), 0.5),
        "ms",
        `${rested} of them, each ${restMs} ms after the last one's answer; without the rests, what one leaves to be cleared up takes the CPU from the next`,
      ),
      forInformation("no-op action: asked to answered, p50", quantile(answers, 0.5), "ms", one),
      forInformation("no-op action: asked to answered, p99", quantile(answers, 0.99), "ms", one),
      forInformation(
        "no-op actions per second",
        actions / seconds,
        "1/s",
        `${actions} of them, ${inFlight} at a time, two workers with a slot for each CPU`,
      ),
    ];
  } finally {
    await client.close();
  }
}

async function run(
  client: ExecutionClient,
  count: number,
  atOnce: number,
  pauseMs = 0,
): Promise<{ readonly executed: Executed[]; readonly seconds: number }> {
  const prepared = await Promise.all(Array.from({ length: count }, () => client.prepare()));
  const executed: Executed[] = [];
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let execute = prepared[next++]; execute !== undefined; execute = prepared[next++]) {
        executed.push(await execute());
        if (pauseMs > 0) await sleep(pauseMs);
      }
    }),
  );
  return { executed, seconds: (performance.now() - startedAt) / 1_000 };
}
