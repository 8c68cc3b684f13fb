import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFarm } from "../../../test/support/farm.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { startProgram } from "../../../test/support/process.ts";
import {
  type BuildbarnPlaces,
  buildbarnDirectories,
  runnerConfig,
  schedulerConfig,
  storageConfig,
  workerConfig,
} from "./buildbarn-config.ts";
import { ours } from "./cas-contenders.ts";
import { untilExecuting } from "./execution-load.ts";
import { type Contender, stopInOrder, untilServing } from "./field-server.ts";
import { nativeLinkConfig } from "./nativelink-config.ts";
import type { Peer } from "./peers.ts";

/** As many actions at once on each of them. */
const slots = 2;

/** A farm with one worker, whose actions run in its usual sandbox. */
export const grangeExecution: Contender = {
  name: ours,
  async start(directory) {
    const farm = await startFarm({ workers: 0, dataDir: join(directory, "farm") });
    const worker = farm.startWorker({ env: { GRANGE_WORKER_SLOTS: String(slots) } });
    await untilExecuting(farm.url);
    return { url: farm.url, pids: [farm.server.pid, worker.pid], stop: () => farm.stop() };
  },
};

/** Programs of a Buildbarn on one machine. */
interface BuildbarnPrograms {
  readonly bb_storage: Peer;
  readonly bb_scheduler: Peer;
  readonly bb_worker: Peer;
  readonly bb_runner: Peer;
}

/** A Buildbarn of four processes. Its actions run without a sandbox. */
export function buildbarnExecution(programs: BuildbarnPrograms): Contender {
  return {
    name: programs.bb_worker.title.replace("'s bb_worker", ""),
    async start(directory) {
      const address = async () => `127.0.0.1:${await freePort()}`;
      const places: BuildbarnPlaces = {
        directory,
        storage: await address(),
        schedulerForClients: await address(),
        schedulerForWorkers: await address(),
      };
      for (const each of buildbarnDirectories(places)) await mkdir(each, { recursive: true });
      const start = async (name: keyof BuildbarnPrograms, config: object) => {
        const file = join(directory, `${name}.json`);
        await writeFile(file, JSON.stringify(config));
        return startProgram(programs[name].path, [file]);
      };
      const storage = await start("bb_storage", storageConfig(places, true));
      const scheduler = await start("bb_scheduler", schedulerConfig(places));
      const runner = await start("bb_runner", runnerConfig(places));
      const worker = await start("bb_worker", workerConfig(places, slots));
      const all = [worker, runner, scheduler, storage];
      const url = `http://${places.storage}`;
      const ended = [scheduler, runner, worker].map(async ({ finished }) => {
        const { code, stderr } = await finished;
        throw new Error(`a process of Buildbarn ended with ${code}: ${stderr.slice(-2_000)}`);
      });
      try {
        await untilServing(url, storage);
        await Promise.race([untilExecuting(url), ...ended]);
      } catch (reason) {
        await stopInOrder(all);
        throw reason;
      }
      return { url, pids: all.map(({ pid }) => pid), stop: () => stopInOrder(all) };
    },
  };
}

/** buildbox-casd with the runner that lies beside it in its package. */
export function buildboxCasd({ path, title }: Peer, runner: Peer): Contender {
  return {
    name: title,
    async start(directory) {
      const port = await freePort();
      const program = startProgram(path, [
        `--bind=127.0.0.1:${port}`,
        `--buildbox-run=${runner.path}`,
        `--jobs=${slots}`,
        "--quota-high=8G",
        "--log-level=warning",
        join(directory, "casd"),
      ]);
      const url = `http://127.0.0.1:${port}`;
      await untilServing(url, program);
      await untilExecuting(url);
      return { url, pids: [program.pid], stop: () => stopInOrder([program]) };
    },
  };
}

/** NativeLink in one process. Its actions run without a sandbox. */
export function nativeLink({ path, title }: Peer): Contender {
  return {
    name: title,
    async start(directory) {
      const clients = `127.0.0.1:${await freePort()}`;
      const workers = `127.0.0.1:${await freePort()}`;
      const file = join(directory, "nativelink.json5");
      const config = nativeLinkConfig({ directory, clients, workers }, slots);
      await writeFile(file, JSON.stringify(config));
      const program = startProgram(path, [file], { env: { RUST_LOG: "error" } });
      const url = `http://${clients}`;
      await untilServing(url, program);
      await untilExecuting(url);
      return { url, pids: [program.pid], stop: () => stopInOrder([program]) };
    },
  };
}
