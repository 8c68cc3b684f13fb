import { setTimeout as delay } from "node:timers/promises";
import { GrpcChannel } from "#grpc/channel.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { cpuSeconds, execute, prepareActions } from "./execute-calls.ts";
import { startLightWorkers } from "./light-workers.ts";

const workers = 1_000;
const actions = 400;
/** Slow enough that actions do not overlap, over more than one claim wait of the idle workers. */
const pauseMs = 75;

export const claimsOfManyWorkers: Measurement = {
  title: "claims with 1,000 workers",
  long: false,
  measure: () => measureClaims(workers),
};

async function measureClaims(count: number): Promise<Row[]> {
  const farm = await startFarm({ workers: 0 });
  const light = await startLightWorkers(farm.url, count);
  const channel = new GrpcChannel({ url: farm.url });
  try {
    const prepared = await prepareActions(channel, actions);
    const sentAt = new Map<string, number>();
    const claimed = new Map<string, number>();
    let twice = 0;
    light.onClaimed = (hash) => {
      if (claimed.has(hash)) twice++;
      claimed.set(hash, performance.now() - (sentAt.get(hash) ?? Number.NaN));
    };
    const ended: number[] = [];
    const calls: Promise<unknown>[] = [];
    const cpuBefore = cpuSeconds(farm.server.pid);
    const begun = performance.now();
    for (const actionDigest of prepared) {
      const sent = performance.now();
      sentAt.set(actionDigest.hash, sent);
      calls.push(execute(channel, actionDigest).then(() => ended.push(performance.now() - sent)));
      await delay(pauseMs);
    }
    await Promise.all(calls);
    const share = (cpuSeconds(farm.server.pid) - cpuBefore) / ((performance.now() - begun) / 1_000);
    const how =
      `${count} workers of the real protocol that run nothing, all idle; ${actions} actions, one every ${pauseMs} ms, ` +
      `from the Execute call to the worker that got it; p50 ${quantile([...claimed.values()], 0.5).toFixed(1)} ms, ` +
      `to the answer p99 ${quantile(ended, 0.99).toFixed(0)} ms; server ${Math.round(share * 100)} % of a core`;
    return [
      exactly(`executions claimed once, ${count} workers`, claimed.size - twice, actions, "", how),
      atMost(
        `claim with ${count} workers, p99`,
        quantile([...claimed.values()], 0.99),
        100,
        "ms",
        how,
      ),
    ];
  } finally {
    await light.stop();
    await channel.stop();
    await farm.stop();
  }
}
