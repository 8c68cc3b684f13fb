import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Build, ToolDriver } from "./tool-driver.ts";

/** A farm, and its directories for the damage that tests do. */
export interface CachePlace {
  readonly url: string;
  readonly token: string;
  /** The directory of the farm's blobs. */
  readonly blobs: string;
}

/** The same build, each time from the beginning, with various faults of the cache. */
interface Tried {
  readonly cold: Build;
  readonly warm: Build;
  readonly warmMs: number;
  readonly coldMs: number;
  readonly wrongToken: Build;
  /** The server disappears after the third piece of data that the tool sends. */
  readonly gone: Build;
  /** Every value in the farm's store is damaged on disk. */
  readonly rotten: Build;
  /** The next build after that. */
  readonly healed: Build;
}

export async function tryTool(tool: ToolDriver, place: CachePlace): Promise<Tried> {
  const dir = await mkdtemp(join(tmpdir(), "grange-tool-"));
  try {
    await tool.prepare(dir);
    const cache = `${place.url}/cache/tools`;
    const build = (at = cache, token = place.token) => tool.build(dir, at, token);
    const beganAt = performance.now();
    const cold = await build();
    const coldAt = performance.now();
    const warm = await build();
    const warmAt = performance.now();
    const wrongToken = await build(cache, `grange_${"x".repeat(43)}`);
    const dying = await serverThatDies(place.url, 3);
    const gone = await build(`${dying.url}/cache/tools`).finally(() => dying.stop());
    await rotAll(place.blobs);
    const rotten = await build();
    const healed = await build();
    const coldMs = coldAt - beganAt;
    return { cold, warm, coldMs, warmMs: warmAt - coldAt, wrongToken, gone, rotten, healed };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Changes the first byte of every blob, in a new file: readers with an open file are not affected.
 */
async function rotAll(blobs: string): Promise<void> {
  for (const name of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    if (!name.isFile() || name.parentPath.endsWith("temp")) continue;
    const path = join(name.parentPath, name.name);
    const bytes = await readFile(path);
    if (bytes.byteLength === 0) continue;
    bytes[0] = (bytes[0] ?? 0) ^ 0xff;
    await rm(path);
    await writeFile(path, bytes);
  }
}

/**
 * Opens a proxy to a server; the proxy closes permanently after a number of pieces of data to the
 * server.
 */
async function serverThatDies(
  target: string,
  pieces: number,
): Promise<{ url: string; stop(): void }> {
  const port = Number(new URL(target).port);
  let left = pieces;
  const open = new Set<{ destroy(): void }>();
  const end = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  const server = createServer((from) => {
    const to = connect(port, "127.0.0.1");
    for (const socket of [from, to]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        from.destroy();
        to.destroy();
      });
    }
    from.on("data", (piece) => {
      if (left-- <= 0) end();
      else to.write(piece);
    });
    to.pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${own}`, stop: end };
}
