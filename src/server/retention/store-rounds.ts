import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Service } from "#core/service.ts";
import { takeLock } from "#machine/holder-lock.ts";

/** A JSON file next to the blobs: shared by all servers of the store, and still there after a restart. */
interface StoreNotes<Noted> {
  /** A file that is missing, truncated or of another shape gives the initial value. */
  read(): Promise<Noted>;
  /** Replaces the file. Readers see the old file or the new one. */
  write(noted: Noted): Promise<void>;
}

export function storeNotes<Noted>(
  path: string,
  shape: z.ZodType<Noted>,
  initial: Noted,
): StoreNotes<Noted> {
  return {
    async read() {
      const text = await readFile(path, "utf8").catch(() => "null");
      return shape.safeParse(parsedOr(text)).data ?? initial;
    },
    async write(noted) {
      const aside = `${path}.${randomUUID()}`;
      await writeFile(aside, JSON.stringify(noted));
      await rename(aside, path);
    },
  };
}

/**
 * Calls `round` periodically, one call at a time among all servers that share the directory. Its signal is aborted when
 * the service stops, which waits for the end of the call. A failure is logged with `failure`, and the next call is made
 * at its usual time.
 */
export function startStoreRounds(parts: {
  readonly directory: string;
  /** The name of the work, and of its lock file. */
  readonly name: string;
  readonly everyMs: number;
  readonly round: (signal: AbortSignal) => Promise<void>;
  readonly failure: string;
  readonly logger: Logger;
}): Service {
  const { directory, name, everyMs, round, failure, logger } = parts;
  const ending = new AbortController();
  let working: Promise<void> | undefined;

  const work = async () => {
    try {
      // A lock file and not a lock in the database, because a round may take long and a transaction should not.
      const taken = await takeLock(join(directory, `${name}.lock`), name);
      if ("holder" in taken) return;
      try {
        await round(ending.signal);
      } finally {
        await taken.lock.release();
      }
    } catch (reason) {
      if (!ending.signal.aborted) logger.warn({ err: reason }, failure);
    } finally {
      working = undefined;
    }
  };
  const timer = setInterval(() => {
    working ??= work();
  }, everyMs).unref();

  return {
    async stop() {
      clearInterval(timer);
      ending.abort();
      await working;
    },
  };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
