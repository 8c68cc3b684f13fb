import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import type { StoreStanding } from "#api/store.ts";
import type { ProjectBlobs } from "#cas/namespaces/project-blobs.ts";
import type { Scrub } from "#cas/scrub.ts";
import type { Clock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import { roundsInDirectory, startStoreRounds } from "./store-rounds.ts";

const Counted = z.object({
  blobs: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
  corrupt: z.number().int().nonnegative(),
});

const Pass = Counted.extend({ begunAt: z.iso.datetime(), lastPiece: z.string().nullable() });
type Pass = z.infer<typeof Pass>;

/** The progress of the check. */
const Progress = z.object({
  /** The current pass; null between two passes. */
  pass: Pass.nullable(),
  finished: Counted.extend({ at: z.iso.datetime() }).nullable(),
});
type Progress = z.infer<typeof Progress>;

const nothingDone: Progress = { pass: null, finished: null };

/** The pause between the end of a pass and the start of the next. */
const restMs = 7 * 24 * 60 * 60_000;
/** A starting server has more urgent work. */
const usuallyEveryMs = 10 * 60_000;
/** A shorter pause is left out, because timers are not exact enough. */
const leastPauseMs = 20;

interface StoreScrub extends Service {
  /** Returns the result of the last complete pass. */
  finished(): Promise<StoreStanding["scrubbed"]>;
}

/**
 * Compares every blob with its digest once a week, at a limited rate, and removes corrupt blobs. Their content is then
 * made again: a result that names one is no hit any more, and a file of a commit is read from Git again.
 */
export function startScrub(parts: {
  readonly scrub: Scrub;
  readonly stores: Pick<ProjectBlobs, "lost">;
  readonly directory: string;
  /** The maximum number of bytes read per second; undefined: no check. */
  readonly bytesPerSecond: number | undefined;
  readonly everyMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}): StoreScrub {
  const { scrub, stores, directory, bytesPerSecond, clock, logger } = parts;
  const place = roundsInDirectory(directory);
  const notes = place.notes("scrub", Progress, nothingDone);

  async function pass(rate: number, signal: AbortSignal): Promise<void> {
    const before = await notes.read();
    const begun = passToDo(before, clock.now());
    if (begun === undefined) return;
    const counted = { ...begun };
    for (const piece of await scrub.pieces()) {
      if (begun.lastPiece !== null && piece <= begun.lastPiece) continue;
      await checkPiece(piece, counted, rate, signal);
      if (signal.aborted) return;
      counted.lastPiece = piece;
      await notes.write({ ...before, pass: counted });
    }
    const { blobs, bytes, corrupt } = counted;
    const finished = { blobs, bytes, corrupt, at: clock.now().toISOString() };
    await notes.write({ pass: null, finished });
    logger.info(finished, "every blob of the store was compared with its digest");
  }

  async function checkPiece(
    piece: string,
    counted: z.infer<typeof Counted>,
    rate: number,
    signal: AbortSignal,
  ): Promise<void> {
    let owedMs = 0;
    for await (const { namespace, digest, isIntact } of scrub.check(piece)) {
      counted.blobs += 1;
      counted.bytes += digest.sizeBytes;
      if (!isIntact && (await scrub.removeCorrupt(namespace, digest))) {
        counted.corrupt += 1;
        // A truncated file does not have the blob's size.
        stores.lost(namespace, digest.hash);
        logger.error(
          { namespace, blob: digestKey(digest) },
          "a blob is corrupt; it was removed. If more follow, the disk is failing",
        );
      }
      owedMs += (digest.sizeBytes / rate) * 1_000;
      if (owedMs < leastPauseMs) continue;
      await delay(owedMs, undefined, { signal, ref: false }).catch(() => {});
      owedMs = 0;
      if (signal.aborted) return;
    }
  }

  const rounds =
    bytesPerSecond === undefined
      ? undefined
      : startStoreRounds({
          place,
          name: "scrub",
          everyMs: parts.everyMs ?? usuallyEveryMs,
          round: (signal) => pass(bytesPerSecond, signal),
          failure: "the store could not be checked; the check is tried again",
          logger,
        });

  return {
    finished: async () => (await notes.read()).finished,
    stop: async () => rounds?.stop(),
  };
}

/** Returns the pass to continue or to start; undefined while the last one is recent. */
export function passToDo({ pass, finished }: Progress, now: Date): Pass | undefined {
  if (pass !== null) return pass;
  const isRecent = finished !== null && now.getTime() - Date.parse(finished.at) < restMs;
  if (isRecent) return undefined;
  return { begunAt: now.toISOString(), lastPiece: null, blobs: 0, bytes: 0, corrupt: 0 };
}
