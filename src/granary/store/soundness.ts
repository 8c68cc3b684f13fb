import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import { startDigest } from "#cas/digest-of.ts";
import { readAhead } from "#cas/read-ahead.ts";
import { type Digest, functionOf } from "#core/digest.ts";

/** About 15 MB. */
const mostRemembered = 50_000;

/** Times of files come in steps of up to 10 ms: a second change within the same step is not visible. */
const sameStepMs = 20;

const chunkBytes = 256 * 1024;

type Stamp = Pick<Stats, "ino" | "size" | "ctimeMs">;

/** The files that this process has hashed and found correct. */
export interface Soundness {
  /** Whether the file is still the one that was hashed. */
  isKnown(path: string, file: Stamp): boolean;
  /** Hashed at `hashedAtMs` or later, and right. */
  remember(path: string, file: Stamp, hashedAtMs: number): void;
  /** We changed its times or its links ourselves, just now, and nothing else. */
  moved(path: string, before: Stamp, after: Stamp): void;
}

/**
 * Hashes a file once in a process's life, and again when it may have changed.
 *
 * Remembered by inode, size and change time: every write sets the last one, and it cannot be restored. New links and
 * noted use set it, too; for our own ones the entry is updated. When others remove their links, the file is hashed once
 * more, which only costs time. Not remembered across processes: bit errors on a disk leave no trace in an inode, and a
 * restart is a good moment to check again.
 */
export function soundness(): Soundness {
  const known = new Map<string, Stamp>();
  const isSame = (a: Stamp | undefined, b: Stamp) =>
    a !== undefined && a.ino === b.ino && a.size === b.size && a.ctimeMs === b.ctimeMs;

  const keep = (path: string, { ino, size, ctimeMs }: Stamp) => {
    known.delete(path);
    known.set(path, { ino, size, ctimeMs });
    const [oldest] = known.keys();
    if (known.size > mostRemembered && oldest !== undefined) known.delete(oldest);
  };

  return {
    isKnown: (path, file) => isSame(known.get(path), file),
    remember(path, file, hashedAtMs) {
      if (Math.abs(hashedAtMs - file.ctimeMs) > sameStepMs) keep(path, file);
    },
    moved(path, before, after) {
      if (isSame(known.get(path), before)) keep(path, { ...before, ctimeMs: after.ctimeMs });
    },
  };
}

/** Whether a file's bytes are those of the digest, and which file it was that was read. */
export async function hashFile(
  path: string,
  digest: Digest,
): Promise<{ readonly file: Stats; readonly isRight: boolean }> {
  const opened = await open(path, "r");
  const file = await opened.stat();
  const running = startDigest(functionOf(digest));
  const span = { start: 0, end: file.size };
  if (file.size === 0) await opened.close();
  else for await (const chunk of readAhead(opened, span, chunkBytes)) running.update(chunk);
  const isRight = running.sizeBytes === digest.sizeBytes && running.digest().hash === digest.hash;
  return { file, isRight };
}
