import { join } from "node:path";
import type { Logger } from "pino";
import type { DiskBlobStore } from "#cas/disk-blob-store.ts";
import { backoffMs } from "#core/backoff.ts";
import type { Digest } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import { doorway } from "./doorway.ts";
import { heldBlobs } from "./held-blobs.ts";
import type { Outbox, OutboxState } from "./outbox.ts";
import { paceOf } from "./pace.ts";
import { type SpooledItems, sendNext } from "./send-next.ts";
import { openSpool, type SpoolFile } from "./spool.ts";
import { divergenceLine, indexLine, readResultLine, resultLine } from "./spooled-line.ts";
import { whatToDrop } from "./what-to-drop.ts";

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
  mostHeldBytes: 5 * 1024 ** 3,
  // Days of builds; their list takes a few dozen megabytes then.
  mostResults: 100_000,
  mostBytes: 256 * 1024 ** 2,
};

/** Opens the outbox of a data directory that nobody else has open, and sends what an earlier process left. */
export async function openOutbox(options: OutboxOptions): Promise<OpenOutbox> {
  const { farm, logger } = options;
  const limits = { ...defaults, ...options };
  const spool = await openSpool(join(options.directory, "outbox"));
  const held = heldBlobs(limits.mostHeldBytes);
  for (const file of spool.files()) {
    if (file.kind !== "results") continue;
    for (const result of resultsIn(await spool.lines(file))) held.add(result);
  }

  const stopping = new AbortController();
  const door = doorway();
  const pace = options.bytesPerSecond ? paceOf(options.bytesPerSecond) : undefined;
  const sending = new Set<SpoolFile>();
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
        const lines = await spool.remove(file);
        if (file.kind === "results") for (const result of resultsIn(lines)) held.release(result);
      }),
    );
  }

  async function dropTooMany(): Promise<void> {
    const files = whatToDrop(spool.files(), limits, (file) => sending.has(file));
    if (files.length === 0) return;
    const count = (kind: SpoolFile["kind"]) =>
      files.reduce((sum, file) => sum + (file.kind === kind ? file.items : 0), 0);
    const what = { results: count("results"), indexes: count("index"), reports: count("report") };
    overflow += files.reduce((sum, { items }) => sum + items, 0);
    onDropped(what, "the outbox is full, and these are the oldest");
    await letGo(files);
  }

  function state(): OutboxState {
    let [results, indexes, reports, bytes] = [0, 0, 0, 0];
    for (const file of spool.files()) {
      bytes += file.bytes;
      if (file.kind === "results") results += file.items;
      else if (file.kind === "index") indexes += file.items;
      else reports += file.items;
    }
    const full = `${overflow} were dropped, as more waited than is kept`;
    return {
      results,
      indexes,
      reports,
      bytes,
      trouble: trouble ?? (overflow > 0 ? full : undefined),
    };
  }

  /** Nothing is left, or nothing can leave. */
  function settle(): void {
    const settled = waiters;
    waiters = [];
    for (const resolve of settled) resolve();
  }

  function awaken(): void {
    wake.abort();
    wake = new AbortController();
  }

  /** Ends early when something is added, or somebody waits for the outbox to be empty. */
  async function pause(ms: number): Promise<void> {
    if (stopping.signal.aborted) return;
    await rest(ms, AbortSignal.any([wake.signal, stopping.signal]));
  }

  async function attempt(): Promise<void> {
    // What the farm's own line says before anybody calls in vain.
    if (farm.isAway()) throw new Fault("unavailable", "the farm cannot be reached");
    const context = {
      farm,
      local: options.blobs,
      pass,
      onSent: (bytes: number) => {
        sentBytes += bytes;
      },
      onDropped,
    };
    const files = await sendNext(spool, context, (some) => some.forEach((f) => sending.add(f)));
    await letGo(files);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (spool.files().length === 0 || door.isHeld()) {
        if (spool.files().length === 0) overflow = 0;
        settle();
        await pause(longMs);
        continue;
      }
      try {
        await attempt();
        if (failures > 0) logger.info({ failures }, "the outbox is being emptied again");
        failures = 0;
        trouble = undefined;
      } catch (reason) {
        if (stopping.signal.aborted) return;
        failures++;
        trouble = messageOf(reason);
        if (failures === 1) logger.warn({ reason: trouble }, "the outbox waits for the farm");
        settle();
        await pause(backoffMs(failures, Math.random()));
      } finally {
        sending.clear();
      }
    }
  }

  async function add(kind: SpoolFile["kind"], line: string): Promise<void> {
    if (stopping.signal.aborted) throw new Fault("unavailable", "the outbox is closed");
    await spool.add(kind, line);
    // A farm that was away is asked when its time has come, not at each result.
    if (failures === 0) awaken();
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
        await add("results", resultLine(result));
      } catch (reason) {
        held.release(result);
        throw reason;
      }
    },
    addIndex: (index) => add("index", indexLine(index)),
    addReport: (report) => add("report", JSON.stringify(report)),
    addDivergence: (project, divergence) => add("report", divergenceLine(project, divergence)),

    hold() {
      const release = door.hold();
      // Whoever waits for the outbox to be empty waits in vain now.
      settle();
      return () => {
        release();
        awaken();
      };
    },

    async drained(signal) {
      await spool.idle();
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
      await running;
      await spool.idle();
      settle();
    },
  };
}

function resultsIn(lines: readonly string[]): GranaryResult[] {
  return lines.map(readResultLine).filter((result) => result !== undefined);
}

/** Until something happens. */
const longMs = 3_600_000;
