import { setTimeout as delay } from "node:timers/promises";
import { GrpcChannel } from "#grpc/channel.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { type SeveralServers, severalServers } from "../../../test/support/several-servers.ts";
import { quantile } from "../quantile.ts";
import { fillQueue } from "../recovery/claims-with-full-queue.ts";
import { cpuSeconds, execute, prepareActions } from "../recovery/execute-calls.ts";
import { startLightWorkers } from "../recovery/light-workers.ts";
import { startLightWorkersApart } from "../recovery/light-workers-apart.ts";
import { monotonicMs } from "../recovery/monotonic-ms.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { memoryOf } from "../start/memory-of.ts";
import { processTree } from "../start/process-tree.ts";
import { withDatabaseUrl } from "./with-database-url.ts";

const claimGoalMs = 100;
const idleGoalPercent = 30;
const memoryGoalMib = 500;

/** For each number of servers. */
const busyActions = 3_000;
const busyWorkers = 40;
const callsAtOnce = 40;

const idleMs = 30_000;
const claims = 300;
const pauseMs = 75;

const queued = 100_000;
const invocations = 1_000;

export const idleWorkersOnTwoServers = idleWorkers(5_000);
/** A fifth of them, in a fifth of the time: most of it is their registration. */
export const fewerIdleWorkersOnTwoServers = idleWorkers(1_000);

function idleWorkers(count: number): Measurement {
  return {
    title: `${count.toLocaleString("en-US")} idle workers on two servers`,
    long: true,
    measure: () => withServers(2, (farm) => measureIdle(farm, count)),
  };
}

export const fullQueueOnTwoServers: Measurement = {
  title: "100,000 queued on two servers",
  long: true,
  measure: () =>
    withServers(2, async (farm) => {
      await fillQueue(farm.client.url, farm.database.url, invocations);
      return measureFullQueue(farm);
    }),
};

/** One, two and three servers with the same load. The servers share the machine, so more of them bring no more. */
export const throughputOfServers: Measurement = {
  title: "one, two and three servers",
  long: true,
  async measure() {
    const rows: Row[] = [];
    for (const count of [1, 2, 3])
      rows.push(...(await withServers(count, (farm) => measureThroughput(farm, count))));
    return rows;
  },
};

/** Servers with their database. */
interface MeasuredFarm extends SeveralServers {
  readonly database: { readonly url: string; readonly pid: number };
}

function withServers(
  count: number,
  measure: (farm: MeasuredFarm) => Promise<Row[]>,
): Promise<Row[]> {
  return withDatabaseUrl(async (url, pid) => {
    const farm = await severalServers({ GRANGE_DATABASE_URL: url });
    try {
      for (let n = 0; n < count; n++) await farm.startServer();
      return await measure({ ...farm, database: { url, pid } });
    } finally {
      await farm.stop();
    }
  });
}

async function measureIdle(farm: MeasuredFarm, count: number): Promise<Row[]> {
  const urls = farm.servers.map(({ url }) => url);
  const light = await startLightWorkersApart(urls, count, 2);
  const channel = new GrpcChannel({ url: farm.client.url });
  try {
    const idle = await cpuShares(farm, () => delay(idleMs));
    const sentAt = new Map<string, number>();
    const waits: number[] = [];
    light.onClaimed = (hash, atMs) => waits.push(atMs - (sentAt.get(hash) ?? Number.NaN));
    const actions = await prepareActions(channel, claims);
    const busy = await cpuShares(farm, async () => {
      const calls: Promise<void>[] = [];
      for (const digest of actions) {
        sentAt.set(digest.hash, monotonicMs());
        calls.push(execute(channel, digest));
        await delay(pauseMs);
      }
      await Promise.all(calls);
    });
    const mib = farm.servers.map(({ program }) => memoryOf(program.pid).rssKib / 1024);
    const how =
      `${count} workers of the real protocol that run nothing, each with a connection of its own, on ${farm.servers.length} servers, registered in ` +
      `${(light.registeredMs / 1_000).toFixed(1)} s; idle for ${idleMs / 1_000} s: database ${percent(idle.database)}; then ${claims} actions, one every ${pauseMs} ms: ` +
      `servers ${busy.servers.map(percent).join(", ")}, database ${percent(busy.database)}; p50 ${quantile(waits, 0.5).toFixed(1)} ms`;
    return [
      exactly(`executions claimed once, ${count} workers`, waits.length, claims, "", how),
      atMost(
        `claim with ${count} idle workers, p99`,
        quantile(waits, 0.99),
        claimGoalMs,
        "ms",
        how,
      ),
      atMost(
        "CPU of an idle server, the busiest",
        Math.max(...idle.servers),
        idleGoalPercent,
        "%",
        how,
      ),
      atMost("memory of a server, the largest", Math.max(...mib), memoryGoalMib, "MiB", how),
    ];
  } finally {
    await light.stop();
    await channel.stop();
  }
}

async function measureFullQueue(farm: MeasuredFarm): Promise<Row[]> {
  const urls = farm.servers.map(({ url }) => url);
  const waits: number[] = [];
  const light = await startLightWorkers(urls, 10, { pauseMs: 60 });
  const begun = performance.now();
  await new Promise<void>((resolve) => {
    light.onClaimed = (_, waitedMs) => {
      waits.push(waitedMs);
      if (waits.length >= 2_000) resolve();
    };
  });
  await light.stop();
  const mib = farm.servers.map(({ program }) => memoryOf(program.pid).rssKib / 1024);
  const seconds = (performance.now() - begun) / 1_000;
  const how =
    `${queued} executions of ${invocations} invocations, 10 workers on ${urls.length} servers that claim again after 60 ms: ` +
    `${(waits.length / seconds).toFixed(0)} claims a second; p50 ${quantile(waits, 0.5).toFixed(1)} ms`;
  return [
    atMost(
      "claim with 100,000 queued, two servers, p99",
      quantile(waits, 0.99),
      claimGoalMs,
      "ms",
      how,
    ),
    atMost("memory of a server, the largest", Math.max(...mib), memoryGoalMib, "MiB", how),
  ];
}

async function measureThroughput(farm: MeasuredFarm, count: number): Promise<Row[]> {
  const urls = farm.servers.map(({ url }) => url);
  const light = await startLightWorkers(urls, busyWorkers);
  const channels = urls.map((url) => new GrpcChannel({ url }));
  const [first] = channels;
  try {
    if (first === undefined) throw new Error("no server runs");
    const waits: number[] = [];
    const accepted: number[] = [];
    const sentAt = new Map<string, number>();
    light.onClaimed = (hash) => waits.push(performance.now() - (sentAt.get(hash) ?? Number.NaN));
    const actions = await prepareActions(first, busyActions);
    const begun = performance.now();
    const cpu = await cpuShares(farm, () =>
      mapAtMost(callsAtOnce, actions, async (digest) => {
        const sent = performance.now();
        sentAt.set(digest.hash, sent);
        const channel = channels[waits.length % channels.length] ?? first;
        await execute(channel, digest, () => accepted.push(performance.now() - sent));
      }),
    );
    const rate = busyActions / ((performance.now() - begun) / 1_000);
    const how =
      `${busyActions} actions, ${callsAtOnce} calls at once, ${busyWorkers} workers that run nothing; servers, database, workers and client on ` +
      `the same machine; CPU of the servers ${cpu.servers.map(percent).join(", ")}, of the database ${percent(cpu.database)}`;
    return [
      forInformation(`actions a second, servers: ${count}`, rate, "/s", how),
      forInformation(`call to worker, p99, servers: ${count}`, quantile(waits, 0.99), "ms", how),
      forInformation(
        `call to operation, p99, servers: ${count}`,
        quantile(accepted, 0.99),
        "ms",
        how,
      ),
    ];
  } finally {
    await light.stop();
    await Promise.all(channels.map((channel) => channel.stop()));
  }
}

/** Returns the CPU time of each server and of the database during `work`, in percent of a core. */
async function cpuShares(
  farm: MeasuredFarm,
  work: () => Promise<unknown>,
): Promise<{ readonly servers: number[]; readonly database: number }> {
  const pids = farm.servers.map(({ program }) => program.pid);
  const before = pids.map(cpuSeconds);
  const ofDatabase = () =>
    processTree(farm.database.pid).reduce((sum, { cpuTicks }) => sum + cpuTicks / 100, 0);
  const databaseBefore = ofDatabase();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1_000;
  return {
    servers: pids.map((pid, n) => ((cpuSeconds(pid) - (before[n] ?? 0)) / seconds) * 100),
    database: ((ofDatabase() - databaseBefore) / seconds) * 100,
  };
}

function percent(share: number): string {
  return `${share.toFixed(0)} %`;
}
