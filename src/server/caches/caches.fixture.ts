import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type OutgoingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { callerRegistry } from "#access/caller-registry.ts";
import type { Principal } from "#access/principal.ts";
import { outputTrees } from "#actions/output-trees.ts";
import type { Caches } from "#caches/caches.ts";
import { cacheHandler } from "#caches/http/cache-handler.ts";
import { openCaches } from "#caches/open-caches.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { type DiskBlobStore, openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { systemClock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";

/** Only the caches, on a port of their own, with a real directory and a real database. */
export interface ServedCaches {
  readonly url: string;
  readonly caches: Caches;
  readonly disk: DiskBlobStore;
  readonly blobs: BlobStore;
  readonly directory: string;
  stop(): Promise<void>;
}

export async function serveCaches(
  db: Db,
  options: {
    readonly idleMs?: number;
    readonly mostEntryBytes?: number;
    /** By default the callers that the database knows. */
    readonly identify?: (authorization: string | undefined) => Promise<Principal>;
  } = {},
): Promise<ServedCaches> {
  const directory = await mkdtemp(join(tmpdir(), "grange-caches-"));
  const logger = pino({ level: "silent" });
  const disk = await openDiskBlobStore(directory);
  const blobs = verifying(disk, (digest) => disk.remove(digest));
  const trees = outputTrees(blobs);
  const caches = openCaches({
    db,
    storeOf: () => ({ blobs, unnamed: disk }),
    treesOf: () => trees,
    clock: systemClock,
    logger,
  });
  const callers = callerRegistry(db, systemClock);
  const handle = cacheHandler({
    caches,
    identify: options.identify ?? ((authorization) => callers.identify(authorization)),
    host: "127.0.0.1",
    mostEntryBytes: options.mostEntryBytes ?? 64 * 1024 * 1024,
    idleMs: options.idleMs ?? 10_000,
    logger,
  });
  const server = createServer({ keepAliveTimeout: 100_000 }, (asked, response) => {
    if (!handle(asked, response)) response.writeHead(404).end("not a cache");
  });
  server.on("checkContinue", (asked, response) => handle(asked, response, true));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caches,
    disk,
    blobs,
    directory,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await caches.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether all bytes that the answer announced have arrived. */
  readonly isWhole: boolean;
}

/** Unlike fetch it sends any method, path and header as they are. */
export function send(
  url: string,
  method: string,
  path: string,
  {
    body,
    headers = {},
  }: { readonly body?: string | Uint8Array; headers?: OutgoingHttpHeaders } = {},
): Promise<Answered> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      const end = (isWhole: boolean) =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
          isWhole,
        });
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => end(true));
      response.on("error", () => end(false));
    });
    sent.on("error", reject);
    // Node does not handle errors of a connection that breaks after the answer has arrived.
    sent.on("socket", (socket) => socket.on("error", () => {}));
    sent.end(body);
  });
}
