import { join } from "node:path";
import type { Logger } from "pino";
import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import { chooseToDrop } from "./choose-to-drop.ts";
import { type Failing, setAsideOf } from "./choose-to-send.ts";
import { dueItems } from "./due-items.ts";
import { heldBlobs } from "./held-blobs.ts";
import type { Outbox, OutboxState } from "./outbox.ts";
import {
  endPause,
  failureOf,
  newSender,
  noteDropped,
  removeFiles,
  resultsIn,
  sendAll,
  settle,
} from "./send-all.ts";
import { sendGate } from "./send-gate.ts";
import { sendRateLimit } from "./send-rate-limit.ts";
import { mostItemsAFile, openSpool, type SpoolFile } from "./spool.ts";
import { divergenceLine, indexLine, resultLine } from "./spooled-line.ts";

export interface OutboxOptions {
  /** The granary's data directory, in which `outbox` is created. */
  readonly directory: string;
  readonly farm: GranaryFarm;
  /** The granary's store, from which the sent blobs are read. */
  readonly blobs: Pick<DiskBlobStore, "get" | "read">;
  readonly logger: Logger;
  /** The limit for uploads; unlimited when absent. */
  readonly bytesPerSecond?: number;
  /**
   * The limit for bytes of waiting results' blobs that are protected from trimming, for example half of the store's
   * limit.
   */
  readonly mostHeldBytes?: number;
  /** The longest wait while a build runs, so that its results are sent together. */
  readonly mostWaitMs?: number;
  readonly mostResults?: number;
  readonly mostBytes?: number;
}

export interface OpenOutbox extends Outbox {
  /** Returns whether a waiting result refers to the blob, so that the store must not trim it. */
  isHeld(digest: Digest): boolean;
  /** Results that were dropped since it was opened: refused, with missing blobs, or above the limit. */
  readonly droppedResults: number;
}

const defaults = {
  // While results wait, other builds of the same commit do not find them. Most builds end earlier.
  mostWaitMs: 30_000,
  mostHeldBytes: 5 * 1024 ** 3,
  // Enough for days of builds; the list then takes a few dozen megabytes.
  mostResults: 100_000,
  mostBytes: 256 * 1024 ** 2,
};

/** Opens the outbox of a data directory, which no other process has open, and sends what an earlier process left. */
export async function openOutbox(options: OutboxOptions): Promise<OpenOutbox> {
  const { farm, logger } = options;
  const limits = { ...defaults, ...options };
  // Whole files are dropped, the oldest first: at most a tenth of all items at a time.
  const mostItems = Math.min(mostItemsAFile, Math.ceil(limits.mostResults / 10));
  const spool = await openSpool(join(options.directory, "outbox"), mostItems);
  const held = heldBlobs(limits.mostHeldBytes);
  for (const file of spool.files()) {
    if (file.kind !== "results") continue;
    for (const result of resultsIn(await spool.lines(file))) held.add(result);
  }

  const due = dueItems(
    () => spool.files().filter((file) => failingOf(file) === undefined),
    limits.mostWaitMs,
    () => {
      sender.gate.look();
      endPause(sender);
    },
  );
  const gate = sendGate(() => due.isDue());
  const pace = options.bytesPerSecond ? sendRateLimit(options.bytesPerSecond) : undefined;
  const sender = newSender({ farm, local: options.blobs, logger, spool, held, gate, pace });
  const failingOf = (file: SpoolFile) => failureOf(sender, file);
  if (spool.files().length > 0) due.added();

  const state = () => stateOf(spool.files(), failingOf, sender);

  async function add(keep: () => void | Promise<void>): Promise<void> {
    if (sender.stopping.signal.aborted) throw new Fault("unavailable", "the outbox is closed");
    await keep();
    due.added();
    // An unreachable farm is contacted when the next attempt is due, not at each result.
    if (sender.failures === 0 && !gate.isHeld()) endPause(sender);
    await dropTooMany(sender, limits);
  }

  const running = sendAll(sender);
  return {
    isHeld: (digest) => held.has(digest),
    state,
    get sentBytes() {
      return sender.sentBytes;
    },
    get droppedResults() {
      return sender.droppedResults;
    },

    async addResult(result) {
      // Held before the result is on disk, because a trim may check in between.
      held.add(result);
      try {
        await add(() => spool.addResult(resultLine(result)));
      } catch (reason) {
        held.release(result);
        throw reason;
      }
    },
    addIndex: (index) => add(() => spool.add("index", indexLine(index))),
    addReport: (report) => add(() => spool.add("report", JSON.stringify(report))),
    addDivergence: (project, divergence) =>
      add(() => spool.add("report", divergenceLine(project, divergence))),

    hold(until = "released") {
      const release = gate.hold(until);
      // Callers that wait for an empty outbox are informed, because they would wait forever.
      settle(sender);
      return () => {
        release();
        endPause(sender);
      };
    },

    async drained(signal) {
      await spool.idle();
      due.now();
      if (!sender.stopping.signal.aborted && !signal?.aborted && !gate.isHeld()) {
        await new Promise<void>((resolve) => {
          sender.waiters.push(resolve);
          signal?.addEventListener("abort", () => resolve(), { once: true });
          endPause(sender);
        });
      }
      return state();
    },

    async stop() {
      sender.stopping.abort();
      due.stop();
      await running;
      await spool.close();
      settle(sender);
    },
  };
}

/** Drops the oldest files of an outbox that holds more than its limits. */
async function dropTooMany(
  sender: ReturnType<typeof newSender>,
  limits: Parameters<typeof chooseToDrop>[1],
): Promise<void> {
  const files = chooseToDrop(sender.spool.files(), limits, (file) => sender.sending.has(file));
  if (files.length === 0) return;
  const count = (kind: SpoolFile["kind"]) =>
    files.reduce((sum, file) => sum + (file.kind === kind ? file.items : 0), 0);
  const what = { results: count("results"), indexes: count("index"), reports: count("report") };
  sender.overflow += files.reduce((sum, { items }) => sum + items, 0);
  noteDropped(sender, what, "the outbox is full, and these are the oldest");
  await removeFiles(sender, files);
}

/** Returns how much waits in these files, and the reason why it was not sent yet. */
function stateOf(
  files: readonly SpoolFile[],
  failingOf: (file: SpoolFile) => Failing | undefined,
  { trouble, overflow }: { readonly trouble: string | undefined; readonly overflow: number },
): OutboxState {
  let [results, indexes, reports, bytes] = [0, 0, 0, 0];
  let late: Failing | undefined;
  for (const file of files) {
    bytes += file.bytes;
    late ??= failingOf(file);
    if (file.kind === "results") results += file.items;
    else if (file.kind === "index") indexes += file.items;
    else reports += file.items;
  }
  const full = `${overflow} were dropped, because too many waited`;
  return {
    results,
    indexes,
    reports,
    bytes,
    trouble: trouble ?? late?.because ?? (overflow > 0 ? full : undefined),
    setAside: setAsideOf(files, failingOf),
  };
}
