import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { forInformation, type Measurement, type Row } from "../row.ts";

/** Both alternately, so that other load on the machine affects them equally; the order changes each time. */
const rounds = 20;
const callsOfSlice = 500;
const inFlight = 32;
/** For both, in advance, because code is slow when it runs for the first time. */
const warmUps = 1_000;
const leastRatio = 0.95;

/** One side: a farm, and calls of each kind to it, with a token or without. */
interface Side {
  readonly farm: Farm;
  readonly calls: Readonly<Record<Kind, () => Promise<unknown>>>;
  close(): Promise<void>;
}

const kinds = [
  "HTTP: GET /server",
  "gRPC: FindMissingBlobs",
  "gRPC: a worker's heartbeat",
] as const;
type Kind = (typeof kinds)[number];

/**
 * The cost of identifying the caller. The calls are the cheapest of their kind: for all others the share is smaller.
 */
export const tokenChecks: Measurement = {
  title: "calls to an open farm and to a closed one, by turns",
  long: false,
  async measure() {
    const sides = await Promise.all([openSide("off"), openSide("on")]);
    try {
      const rows: Row[] = [];
      for (const kind of kinds) rows.push(...(await compare(kind, sides)));
      return rows;
    } finally {
      await Promise.all(sides.map((side) => side.close()));
    }
  },
};

async function openSide(access: "on" | "off"): Promise<Side> {
  const farm = await startFarm({ workers: 0, env: access === "on" ? { GRANGE_CLOSE: "1" } : {} });
  const tokenOf = async (file: string) => (await readFile(join(farm.dataDir, file), "utf8")).trim();
  const headersOf = async (file: string): Promise<Record<string, string>> =>
    access === "on" ? { authorization: `Bearer ${await tokenOf(file)}` } : {};
  const [owner, worker] = await Promise.all([headersOf("owner-token"), headersOf("worker-token")]);

  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const builds = new GrpcChannel({ url: farm.url, metadata: () => owner });
  const works = new GrpcChannel({ url: farm.url, metadata: () => worker });
  const asked = { blobDigests: [toDigestMessage(digestOf(Buffer.from("never uploaded")))] };
  const process = { workerName: "w", instanceId: randomUUID() };
  await works.unary(Workers.method.register, {
    name: process.workerName,
    instanceId: process.instanceId,
    platform: {},
    sizeClass: 1,
    slots: 1,
  });
  const { findMissingBlobs } = ContentAddressableStorage.method;
  return {
    farm,
    calls: {
      "HTTP: GET /server": () => fetched(`${farm.url}/api/v1/server`, agent, owner),
      "gRPC: FindMissingBlobs": () => builds.unary(findMissingBlobs, asked),
      "gRPC: a worker's heartbeat": () => works.unary(Workers.method.heartbeat, process),
    },
    async close() {
      agent.destroy();
      await Promise.all([builds.stop(), works.stop()]);
      await farm.stop();
    },
  };
}

function fetched(url: string, agent: Agent, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
      response.resume().once("end", resolve).once("error", reject);
    }).once("error", reject);
  });
}

interface Slice {
  readonly seconds: number;
  /** Only of the server's main thread, user and system. */
  readonly cpuSeconds: number;
}

async function compare(kind: Kind, [off, on]: readonly Side[]): Promise<Row[]> {
  if (off === undefined || on === undefined) return [];
  for (const side of [off, on]) await slice(side, kind, warmUps);
  const pairs: { readonly off: Slice; readonly on: Slice }[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = await slice(round % 2 === 0 ? off : on, kind, callsOfSlice);
    const second = await slice(round % 2 === 0 ? on : off, kind, callsOfSlice);
    pairs.push(round % 2 === 0 ? { off: first, on: second } : { off: second, on: first });
  }
  const calls = rounds * callsOfSlice;
  const cpuOf = (side: "on" | "off") => pairs.reduce((sum, pair) => sum + pair[side].cpuSeconds, 0);
  const ratio = cpuOf("off") / cpuOf("on");
  const wall = quantile(
    pairs.map((pair) => pair.off.seconds / pair.on.seconds),
    0.5,
  );
  const turns =
    `${rounds} times ${callsOfSlice} calls, ${inFlight} at a time over kept connections, to an open farm (no token) ` +
    "and to a closed one (a token) by turns, two servers of their own processes";
  const cpu = `${turns}; calls by the time on a CPU of the server's main thread (/proc/PID/schedstat), which is what runs out first`;
  const perCall = (side: "on" | "off") => (cpuOf(side) / calls) * 1e6;
  return [
    {
      name: `${kind}: throughput of the server with access control on, of that without`,
      figure: Math.round(ratio * 1_000) / 1_000,
      unit: "×",
      goal: `≥ ${leastRatio} ×`,
      holds: ratio >= leastRatio,
      how: cpu,
    },
    forInformation(`${kind}: the same by the clock`, wall, "×", `${turns}; median of the pairs`),
    forInformation(`${kind}: CPU of a call, off`, perCall("off"), "µs", cpu),
    forInformation(`${kind}: CPU of a call, on`, perCall("on"), "µs", cpu),
  ];
}

async function slice({ farm, calls }: Side, kind: Kind, count: number): Promise<Slice> {
  const call = calls[kind];
  const cpuBefore = await cpuSecondsOf(farm.server.pid);
  const begun = performance.now();
  let left = count;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await call();
    }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  return { seconds, cpuSeconds: (await cpuSecondsOf(farm.server.pid)) - cpuBefore };
}

/** In nanoseconds, because the ticks of 10 ms in /proc/PID/stat would be a tenth of one side's time. */
async function cpuSecondsOf(pid: number): Promise<number> {
  const [running = ""] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
  return Number(running) / 1e9;
}
