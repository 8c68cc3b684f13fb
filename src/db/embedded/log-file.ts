import { copyFile, rename, stat, truncate } from "node:fs/promises";
import type { Service } from "#core/service.ts";

/** Twice as much is kept: this file and its predecessor. */
const mostLogBytes = 10 * 1024 ** 2;
const lookEveryMs = 60_000;

/** Returns the path of the log's older part. */
export function olderLog(path: string): string {
  return `${path}.1`;
}

/** Renames a log that is too large; it replaces the previously renamed one. No process may have it open. */
export async function rotateClosedLog(path: string, mostBytes = mostLogBytes): Promise<void> {
  if (await isLarger(path, mostBytes)) await rename(path, olderLog(path));
}

/**
 * The same for a log that processes append to. They have the file open, so its content is copied instead of renaming
 * it.
 *
 * Lines that are written between the copy and the truncation are lost.
 */
export async function rotateOpenLog(path: string, mostBytes = mostLogBytes): Promise<void> {
  if (!(await isLarger(path, mostBytes))) return;
  await copyFile(path, olderLog(path));
  await truncate(path);
}

/**
 * Keeps a log that processes append to within its size, checked once a minute. After a failure it tries again a minute
 * later.
 */
export function keepLogSmall(path: string): Service {
  let rotating = Promise.resolve();
  const timer = setInterval(() => {
    rotating = rotateOpenLog(path).catch(() => {});
  }, lookEveryMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await rotating;
    },
  };
}

async function isLarger(path: string, mostBytes: number): Promise<boolean> {
  const found = await stat(path).catch((reason: NodeJS.ErrnoException) => {
    if (reason.code === "ENOENT") return undefined;
    throw reason;
  });
  return found !== undefined && found.size > mostBytes;
}
