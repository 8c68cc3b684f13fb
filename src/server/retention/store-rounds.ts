import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Service } from "#core/service.ts";
import { takeLock } from "#machine/holder-lock.ts";

/** Notes of rounds: shared by all servers of the store, and still there after a restart. */
interface StoreNotes<Noted> {
  /** Notes that are missing, truncated or of another shape give the initial value. */
  read(): Promise<Noted>;
  /** Replaces the notes. Readers see the old ones or the new ones. */
  write(noted: Noted): Promise<void>;
}

/** The right to a round, which one server has at a time. */
interface RoundRight {
  /** Aborted when another server may have the right: the round must end. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Where servers agree who works on their store, and find what the last round noted. */
export interface RoundPlace {
  /** Returns undefined while another server has the right. */
  take(name: string): Promise<RoundRight | undefined>;
  notes<Noted>(name: string, shape: z.ZodType<Noted>, initial: Noted): StoreNotes<Noted>;
}

/** Rounds of servers that share a directory: lock files and notes are in it. */
export function roundsInDirectory(directory: string): RoundPlace {
  return {
    async take(name) {
      // A lock file and not a lock in the database, because a round may take long and a transaction should not.
      const taken = await takeLock(join(directory, `${name}.lock`), name);
      if ("holder" in taken) return undefined;
      return { lost: new AbortController().signal, release: () => taken.lock.release() };
    },
    notes: (name, shape, initial) => storeNotes(join(directory, `${name}.json`), shape, initial),
  };
}

function storeNotes<Noted>(
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
 * Calls `round` periodically, one call at a time among all servers of the place. Its signal is aborted when the service
 * stops, which waits for the end of the call, and when another server may have the right to the round. A failure is
 * logged with `failure`, and the next call is made at its usual time.
 */
export function startStoreRounds(parts: {
  readonly place: Pick<RoundPlace, "take">;
  /** The name of the work. */
  readonly name: string;
  readonly everyMs: number;
  readonly round: (signal: AbortSignal) => Promise<void>;
  readonly failure: string;
  readonly logger: Logger;
}): Service {
  const { place, name, everyMs, round, failure, logger } = parts;
  const ending = new AbortController();
  let working: Promise<void> | undefined;

  const work = async () => {
    try {
      const right = await place.take(name);
      if (right === undefined) return;
      try {
        await round(AbortSignal.any([ending.signal, right.lost]));
      } finally {
        await right.release();
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
