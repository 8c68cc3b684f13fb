import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFarm } from "../../../test/support/farm.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { ccache as ccacheNeed } from "../../../test/support/needs/machine-needs.ts";
import { runProgram, startProgram } from "../../../test/support/process.ts";
import { startNginx, whyNoNginx } from "../build-tools/nginx.ts";
import { requireNeeds } from "../require-needs.ts";
import type { Measurement, Row } from "../row.ts";
import { type Figure, printTurn, quantitiesOf, turnsOf } from "./by-turns.ts";
import { ours } from "./cas-contenders.ts";
import { absentRow, comparisonRows } from "./comparison-rows.ts";
import { stopInOrder } from "./field-server.ts";
import { type Absent, findPeer } from "./peers.ts";

const rounds = 5;
const units = 100;

/** A place where ccache stores results. */
interface CacheServer {
  readonly name: string;
  /** As in ccache's setting `remote_storage`. */
  readonly storage: string;
  stop(): Promise<unknown>;
}

/** ccache without a local cache, with each of the servers. */
export const compilerCache: Measurement = {
  title: "ccache with a farm, beside Redis and nginx",
  long: false,
  async measure() {
    requireNeeds([ccacheNeed]);
    const directory = await mkdtemp(join(tmpdir(), "grange-field-"));
    const servers: CacheServer[] = [];
    const absent: Row[] = [];
    try {
      servers.push(await startGrange());
      for (const start of [startRedis, startNginxCache]) {
        const server = await start(directory);
        if ("absent" in server) absent.push(absentRow("ccache", server));
        else servers.push(server);
      }
      return [...(await measure(directory, servers)), ...absent];
    } finally {
      for (const server of servers) await server.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function startGrange(): Promise<CacheServer> {
  const farm = await startFarm({ workers: 0 });
  return {
    name: ours,
    storage: `${farm.url}/cache/default/ccache|layout=subdirs`,
    stop: () => farm.stop(),
  };
}

/** Redis that keeps everything in memory, as its documents recommend for a cache. */
async function startRedis(directory: string): Promise<CacheServer | Absent> {
  const peer = findPeer("redis-server");
  if ("absent" in peer) return peer;
  const port = await freePort();
  const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--dir", directory];
  const program = startProgram(peer.path, settings);
  await program.line((line) => line.includes("Ready to accept connections"));
  return {
    name: peer.title,
    storage: `redis://127.0.0.1:${port}`,
    stop: () => stopInOrder([program]),
  };
}

async function startNginxCache(directory: string): Promise<CacheServer | Absent> {
  const why = whyNoNginx();
  if (why !== undefined) return { absent: `nginx is absent: ${why}` };
  const nginx = await startNginx(join(directory, "nginx"));
  return { name: "nginx", storage: `${nginx.url}|layout=subdirs`, stop: () => nginx.stop() };
}

async function measure(directory: string, servers: readonly CacheServer[]): Promise<Row[]> {
  const measured: { server: string; figures: readonly Figure[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Other sources in each round, so that nothing is stored yet.
    for (let n = 0; n < units; n++)
      await writeFile(join(directory, `unit${n}.c`), `int unit${n}(void) { return ${round}; }\n`);
    for (const { name, storage } of turnsOf(servers, round)) {
      printTurn(round, rounds, name);
      const stored = await compileAll(directory, storage);
      const found = await compileAll(directory, storage);
      if (stored.hits !== 0 || found.hits !== units)
        throw new Error(`${name}: ${stored.hits} and ${found.hits} hits of ${units}`);
      const figures = [
        secondsOf("compiled and stored", stored.seconds),
        secondsOf("found", found.seconds),
      ];
      measured.push({ server: name, figures });
    }
  }
  const how =
    "one call of ccache after the other, each a process with a connection of its own, and no local cache";
  return quantitiesOf(measured).flatMap((quantity) =>
    comparisonRows(quantity, ours, { kind: "information" }, how),
  );
}

function secondsOf(what: string, value: number): Figure {
  return { what: `ccache: ${units} small files ${what}`, unit: "s", better: "lower", value };
}

async function compileAll(
  directory: string,
  storage: string,
): Promise<{ readonly seconds: number; readonly hits: number }> {
  const local = await mkdtemp(join(directory, "ccache-"));
  const env = { CCACHE_DIR: local, CCACHE_REMOTE_ONLY: "1", CCACHE_REMOTE_STORAGE: storage };
  const startedAt = performance.now();
  for (let n = 0; n < units; n++) {
    const args = ["gcc", "-c", `unit${n}.c`, "-o", `unit${n}.o`];
    const { code, stderr } = await runProgram("ccache", args, { cwd: directory, env });
    if (code !== 0) throw new Error(`ccache ended with ${code}: ${stderr}`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { stdout } = await runProgram("ccache", ["--print-stats"], { env });
  const count = (name: string) => Number(new RegExp(`^${name}\\t(\\d+)`, "m").exec(stdout)?.[1]);
  await rm(local, { recursive: true });
  return { seconds, hits: count("direct_cache_hit") + count("preprocessed_cache_hit") };
}
