import { join } from "node:path";
import type { Logger } from "pino";
import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { backoffMs } from "#core/backoff.ts";
import type { Digest } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import { chooseToDrop } from "./choose-to-drop.ts";
import { afterFailing, type Failing, whatToSend } from "./choose-to-send.ts";
import { classifyFailure } from "./classify-failure.ts";
import { dueItems } from "./due-items.ts";
import { heldBlobs } from "./held-blobs.ts";
import type { Outbox } from "./outbox.ts";
import { stateOf } from "./outbox-state.ts";
import { sendGate } from "./send-gate.ts";
import { type Left, type SpooledItems, sendFiles } from "./send-next.ts";
import { sendRateLimit } from "./send-rate-limit.ts";
import { mostItemsAFile, openSpool, type SpoolFile } from "./spool.ts";
import { divergenceLine, indexLine, readResultLine, resultLine } from "./spooled-line.ts";

export interface OutboxOptions {
  /** The granary's data directory: `outbox` is made in it. */
  readonly directory: string;
  readonly farm: GranaryFarm;
  /** The store's: what is sent is read from there. */
  readonly blobs: Pick<DiskBlobStore, "get" | "read">;
  readonly logger: Logger;
  /** Unlimited when absent. */
  readonly bytesPerSecond?: number;
  /** Of waiting results' blobs, so much is kept from being trimmed: half of the store's limit, say. */
  readonly mostHeldBytes?: number;
  /** While a build runs, for what it makes to be sent together. */
  readonly mostWaitMs?: number;
  readonly mostResults?: number;
  readonly mostBytes?: number;
}

export interface OpenOutbox extends Outbox {
  /** Whether a result that waits names the blob: the store is not to trim it. */
  isHeld(digest: Digest): boolean;
  /** Results that were given up since it was opened: refused, without their blobs, or too many. */
  readonly droppedResults: number;
}

const defaults = {
  // Others who build the same commit do not find meanwhile what was made here. Most builds are over by then.
  mostWaitMs: 30_000,
  mostHeldBytes: 5 * 1024 ** 3,
  // Days of builds; their list takes a few dozen megabytes then.
  mostResults: 100_000,
  mostBytes: 256 * 1024 ** 2,
};

/** Opens the outbox of a data directory that nobody else has open, and sends what an earlier process left. */
export async function openOutbox(options: OutboxOptions): Promise<OpenOutbox> {
  const { farm, logger } = options;
  const limits = { ...defaults, ...options };
  // The oldest are dropped by files: a tenth of all at most.
  const mostItems = Math.min(mostItemsAFile, Math.ceil(limits.mostResults / 10));
  const spool = await openSpool(join(options.directory, "outbox"), mostItems);
  const held = heldBlobs(limits.mostHeldBytes);
  for (const file of spool.files()) {
    if (file.kind !== "results") continue;
    for (const result of resultsIn(await spool.lines(file))) held.add(result);
  }

  const stopping = new AbortController();
  const pace = options.bytesPerSecond ? sendRateLimit(options.bytesPerSecond) : undefined;
  const sending = new Set<SpoolFile>();
  /** By their paths, since what is left of a file has its place. */
  const failing = new Map<string, Failing>();
  const failingOf = ({ path }: SpoolFile) => failing.get(path);
  const due = dueItems(
    () => spool.files().filter((file) => failingOf(file) === undefined),
    limits.mostWaitMs,
    () => {
      door.look();
      awaken();
    },
  );
  const door = sendGate(() => due.isDue());
  if (spool.files().length > 0) due.added();
  let sentBytes = 0;
  let droppedResults = 0;
  let trouble: string | undefined;
  let overflow = 0;
  let failures = 0;
  let wake = new AbortController();
  let waiters: (() => void)[] = [];

  async function pass(bytes: number): Promise<void> {
    await door.opened(stopping.signal);
    if (bytes > 0) await pace?.(bytes, stopping.signal);
    if (stopping.signal.aborted) throw new Fault("cancelled", "the granary is being stopped");
  }

  function onDropped(what: SpooledItems, because: string): void {
    droppedResults += what.results;
    logger.warn({ ...what, because }, "dropped what the farm will not get");
  }

  async function letGo(files: readonly SpoolFile[]): Promise<void> {
    await Promise.all(
      files.map(async (file) => {
        failing.delete(file.path);
        const lines = await spool.remove(file);
        if (file.kind === "results") for (const result of resultsIn(lines)) held.release(result);
      }),
    );
  }

  async function dropTooMany(): Promise<void> {
    const files = chooseToDrop(spool.files(), limits, (file) => sending.has(file));
    if (files.length === 0) return;
    const count = (kind: SpoolFile["kind"]) =>
      files.reduce((sum, file) => sum + (file.kind === kind ? file.items : 0), 0);
    const what = { results: count("results"), indexes: count("index"), reports: count("report") };
    overflow += files.reduce((sum, { items }) => sum + items, 0);
    onDropped(what, "the outbox is full, and these are the oldest");
    await letGo(files);
  }

  const state = () => stateOf(spool.files(), failingOf, { trouble, overflow });

  /** Nothing is left, or nothing can leave. */
  function settle(): void {
    const settled = waiters;
    waiters = [];
    for (const resolve of settled) resolve();
  }

  function awaken(): void {
    // A reason of ours: the usual one is an error with a stack, made for each result.
    wake.abort("awake");
    wake = new AbortController();
  }

  /** Ends early when something is added, or somebody waits for the outbox to be empty. */
  async function pause(ms: number): Promise<void> {
    if (stopping.signal.aborted) return;
    await rest(ms, AbortSignal.any([wake.signal, stopping.signal]));
  }

  function hasFailed(file: SpoolFile, because: string): void {
    const now = performance.now();
    failing.set(file.path, afterFailing(failing.get(file.path), because, now, Math.random()));
  }

  /** What the farm has not taken stays in its place; all else of these files is done with. */
  async function keepLeft(files: readonly SpoolFile[], left: readonly Left[]): Promise<void> {
    for (const { file, lines, because } of left) {
      if (lines.length < file.items) {
        const before = await spool.lines(file);
        await spool.keepOnly(file, lines);
        if (file.kind === "results") {
          for (const result of resultsIn(lines)) held.add(result);
          for (const result of resultsIn(before)) held.release(result);
        }
      }
      hasFailed(file, because);
    }
    await letGo(files.filter((file) => !left.some((its) => its.file === file)));
  }

  /** Why nothing of it was taken, and is tried again later; undefined when something was. Throws when nothing leaves at all. */
  async function attempt(files: readonly SpoolFile[]): Promise<string | undefined> {
    // What the farm's own line says before anybody calls in vain.
    if (farm.isAway()) {
      const why = farm.awayBecause?.();
      const how = why === undefined ? "" : `: ${why}`;
      throw new Fault("unavailable", `the farm cannot be reached${how}`);
    }
    const context = {
      farm,
      local: options.blobs,
      pass,
      onSent: (bytes: number) => {
        sentBytes += bytes;
      },
      onDropped,
    };
    for (const file of files) sending.add(file);
    try {
      const left = await sendFiles(spool, files, context);
      await keepLeft(files, left);
      const hasMoved =
        left.length < files.length || left.some(({ file, lines }) => lines.length < file.items);
      return hasMoved ? undefined : left[0]?.because;
    } catch (reason) {
      if (classifyFailure(reason) !== "failing" || stopping.signal.aborted) throw reason;
      for (const file of files) hasFailed(file, messageOf(reason));
      return messageOf(reason);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const next = door.isHeld()
        ? ({ kind: "nothing" } as const)
        : whatToSend(spool.files(), failingOf, performance.now());
      if (next.kind !== "send") {
        if (spool.files().length === 0) overflow = 0;
        // The farm answers, or nobody wants to know whether it does.
        if (!door.isHeld()) trouble = undefined;
        settle();
        await pause(next.kind === "wait" ? next.untilMs - performance.now() : longMs);
        continue;
      }
      let reason: unknown;
      try {
        const because = await attempt(next.files);
        trouble = undefined;
        if (because === undefined) {
          if (failures > 0) logger.info({ failures }, "the outbox is being emptied again");
          failures = 0;
          continue;
        }
        reason = because;
      } catch (caught) {
        if (stopping.signal.aborted) return;
        reason = caught;
        trouble = messageOf(caught);
      } finally {
        sending.clear();
      }
      failures++;
      if (failures === 1) {
        logger.warn({ reason: messageOf(reason) }, "the outbox waits for the farm");
      }
      // Of what fails by itself, others may still leave: whoever waits hears of it when some more have not.
      if (trouble !== undefined || failures > otherTries) settle();
      await pause(backoffMs(failures, Math.random()));
    }
  }

  async function add(keep: () => void | Promise<void>): Promise<void> {
    if (stopping.signal.aborted) throw new Fault("unavailable", "the outbox is closed");
    await keep();
    due.added();
    // A farm that was away is asked when its time has come, not at each result.
    if (failures === 0 && !door.isHeld()) awaken();
    await dropTooMany();
  }

  const running = run();
  return {
    isHeld: (digest) => held.has(digest),
    state,
    get sentBytes() {
      return sentBytes;
    },
    get droppedResults() {
      return droppedResults;
    },

    async addResult(result) {
      // Before it is on disk: a trim may look in between.
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

    hold(until = "let go") {
      const release = door.hold(until);
      // Whoever waits for the outbox to be empty waits in vain now.
      settle();
      return () => {
        release();
        awaken();
      };
    },

    async drained(signal) {
      await spool.idle();
      due.now();
      if (!stopping.signal.aborted && !signal?.aborted && !door.isHeld()) {
        await new Promise<void>((resolve) => {
          waiters.push(resolve);
          signal?.addEventListener("abort", () => resolve(), { once: true });
          awaken();
        });
      }
      return state();
    },

    async stop() {
      stopping.abort();
      due.stop();
      await running;
      await spool.close();
      settle();
    },
  };
}

function resultsIn(lines: readonly string[]): GranaryResult[] {
  return lines.map(readResultLine).filter((result) => result !== undefined);
}

/** A farm that fails at so many things one after the other fails at all of them. */
const otherTries = 3;

/** Until something happens. */
const longMs = 3_600_000;
