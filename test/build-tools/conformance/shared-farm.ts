import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Farm, startFarm } from "../../support/farm.ts";
import { type BuildTool, buildTool, type ToolOptions } from "./build-tool.ts";
import { type ForeignClient, foreignClient } from "./foreign-client.ts";

/** Projects in which only callers with a token may make changes. */
export const closedProject = "closed/project";

/** One farm for all rules: a server, its PostgreSQL, and a worker whose jobs run in a sandbox. */
export interface SharedFarm {
  readonly url: string;
  readonly client: ForeignClient;
  /** A token with all permissions. */
  readonly token: string;
  /** A token with read permission only. */
  readonly readerToken: string;
  /** A token that may execute actions in all projects, and may not write to a cache. */
  readonly builderToken: string;
  tool(options?: ToolOptions): BuildTool;
  get(path: string): Promise<unknown>;
  /** Removes a blob from the farm, as a broken disk does. */
  lose(digest: Digest): Promise<void>;
  stop(): Promise<void>;
}

export async function sharedFarm(sandbox = "auto"): Promise<SharedFarm> {
  const farm = await startFarm({ workers: 0 });
  farm.startWorker({ env: { GRANGE_WORKER_SLOTS: "2", GRANGE_WORKER_SANDBOX: sandbox } });
  const api = apiOf(farm);
  const { token } = (await api("/tokens", { principal: "root" })) as { token: string };
  const reader = (await api("/tokens", { principal: "reader" })) as { token: string };
  const builder = (await api("/tokens", { principal: "builder" })) as { token: string };
  await api("/grants", { principal: "root", verb: "*", top: true });
  await api("/grants", { principal: "builder", verb: "execute" });
  for (const repository of ["default", "open*", "team/*"]) {
    for (const verb of ["execute", "cache", "cancel"]) {
      await api("/grants", { principal: "anyone", verb, repository });
    }
  }
  // The worker has no token.
  await api("/grants", { principal: "anyone", verb: "work" });
  await api("/grants/remove", { principal: "anyone", verb: "*" }, token);
  const client = foreignClient(farm.url);
  // An unexpected end is printed: the tests themselves would report only lost connections.
  let isStopping = false;
  void farm.server.finished.then(({ code, stdout, stderr }) => {
    if (!isStopping)
      process.stderr.write(`the server ended with ${code}:\n${(stdout + stderr).slice(-4_000)}\n`);
  });
  return {
    url: farm.url,
    client,
    token,
    readerToken: reader.token,
    builderToken: builder.token,
    tool: (options) => buildTool(client, options),
    get: (path) => api(path),
    async lose({ hash }) {
      const blobs = join(farm.dataDir, "blobs", "blobs");
      for (const name of await readdir(blobs, { recursive: true })) {
        if (name.endsWith(hash)) await rm(join(blobs, name));
      }
    },
    async stop() {
      client.close();
      isStopping = true;
      await farm.stop();
    },
  };
}

function apiOf({ url }: Farm) {
  return async (path: string, body?: unknown, token?: string): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
}
