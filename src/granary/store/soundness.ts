import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import { startDigest } from "#cas/digest-of.ts";
import { readAhead } from "#cas/read-ahead.ts";
import { type Digest, functionOf } from "#core/digest.ts";

/** These take about 15 MB. */
const mostRemembered = 50_000;

/** Times of files come in steps of up to 10 ms: a second change within the same step is not visible. */
const sameStepMs = 20;

const chunkBytes = 256 * 1024;

type Stamp = Pick<Stats, "ino" | "size" | "ctimeMs">;

/** The files that this process has hashed and found correct. */
export interface Soundness {
  /** Returns whether the file is still the one that was hashed. */
  isKnown(path: string, file: Stamp): boolean;
  /** Records a file that was hashed at `hashedAtMs` or later, and is correct. */
  remember(path: string, file: Stamp, hashedAtMs: number): void;
  /**
   * Records that this process itself has just changed the file's times or links, and nothing else.
   */
  moved(path: string, before: Stamp, after: Stamp): void;
}

/**
 * Hashes a file once in a process's life, and again when it may have changed.
 *
 * The result is remembered by inode, size and change time: every write sets the change time, and it cannot be restored.
 * New links and recorded use also set it; for those of this process, the entry is updated. When others remove their
 * links, the file is hashed once more, which only costs time. It is not remembered across processes: bit errors on a
 * disk leave no trace in an inode, and a restart is a good moment to check again.
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

/** Returns whether a file's bytes match the digest, and which file was read. */
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
