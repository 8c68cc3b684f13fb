import { join } from "node:path";
import { startFarm } from "../../../test/support/farm.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { startProgram } from "../../../test/support/process.ts";
import { startNginx, whyNoNginx } from "../build-tools/nginx.ts";
import { ours } from "./cas-contenders.ts";
import { stopInOrder } from "./field-server.ts";
import { type Absent, findPeer } from "./peers.ts";

/** A place where compiler caches store results. */
export interface CompilerCacheServer {
  readonly name: string;
  /** As in ccache's setting `remote_storage`. */
  readonly ccacheStorage: string;
  /** The variables with which sccache uses it; undefined when it cannot. */
  readonly sccacheEnv: Readonly<Record<string, string>> | undefined;
  stop(): Promise<unknown>;
}

export async function startGrangeCache(): Promise<CompilerCacheServer> {
  const farm = await startFarm({ workers: 0 });
  return {
    name: ours,
    ccacheStorage: `${farm.url}/cache/default/ccache|layout=subdirs`,
    sccacheEnv: { SCCACHE_WEBDAV_ENDPOINT: `${farm.url}/cache/default/sccache` },
    stop: () => farm.stop(),
  };
}

/** Redis that keeps everything in memory, as its documents recommend for a cache. */
export async function startRedis(directory: string): Promise<CompilerCacheServer | Absent> {
  const peer = findPeer("redis-server");
  if ("absent" in peer) return peer;
  const port = await freePort();
  const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--dir", directory];
  const program = startProgram(peer.path, settings);
  await program.line((line) => line.includes("Ready to accept connections"));
  return {
    name: peer.title,
    ccacheStorage: `redis://127.0.0.1:${port}`,
    sccacheEnv: { SCCACHE_REDIS_ENDPOINT: `redis://127.0.0.1:${port}` },
    stop: () => stopInOrder([program]),
  };
}

export async function startNginxCache(directory: string): Promise<CompilerCacheServer | Absent> {
  const why = whyNoNginx();
  if (why !== undefined) return { absent: `nginx is absent: ${why}` };
  const nginx = await startNginx(join(directory, "nginx"));
  return {
    name: "nginx",
    ccacheStorage: `${nginx.url}|layout=subdirs`,
    // sccache asks for PROPFIND, which nginx's module for WebDAV does not have.
    sccacheEnv: undefined,
    stop: () => nginx.stop(),
  };
}
