import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFarm } from "../../../test/support/farm.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { startProgram } from "../../../test/support/process.ts";
import { type BuildbarnPlaces, buildbarnDirectories, storageConfig } from "./buildbarn-config.ts";
import { type Contender, stopInOrder, untilServing } from "./field-server.ts";
import type { Peer } from "./peers.ts";

export const ours = "Grange";

/** A farm without workers: its server with PostgreSQL. */
export const grangeStorage: Contender = {
  name: ours,
  async start(directory) {
    const farm = await startFarm({ workers: 0, dataDir: join(directory, "farm") });
    return { url: farm.url, pids: [farm.server.pid], stop: () => farm.stop() };
  },
};

/** bazel-remote without compression, which random bytes would only make slower. */
export function bazelRemote({ path, title }: Peer): Contender {
  return {
    name: title,
    async start(directory) {
      const [grpc, http] = [await freePort(), await freePort()];
      const program = startProgram(path, [
        `--dir=${join(directory, "cache")}`,
        "--max_size=32",
        "--storage_mode=uncompressed",
        "--access_log_level=none",
        `--grpc_address=127.0.0.1:${grpc}`,
        `--http_address=127.0.0.1:${http}`,
      ]);
      const url = `http://127.0.0.1:${grpc}`;
      await untilServing(url, program);
      return { url, pids: [program.pid], stop: () => stopInOrder([program]) };
    },
  };
}

export function buildbarnStorage({ path, title }: Peer): Contender {
  return {
    name: title,
    async start(directory) {
      const address = `127.0.0.1:${await freePort()}`;
      const places: BuildbarnPlaces = {
        directory,
        storage: address,
        schedulerForClients: "",
        schedulerForWorkers: "",
      };
      for (const each of buildbarnDirectories(places)) await mkdir(each, { recursive: true });
      const config = join(directory, "storage.json");
      await writeFile(config, JSON.stringify(storageConfig(places, false)));
      const program = startProgram(path, [config]);
      const url = `http://${address}`;
      await untilServing(url, program);
      return { url, pids: [program.pid], stop: () => stopInOrder([program]) };
    },
  };
}
