import type { Logger } from "pino";
import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { backoffMs } from "#core/backoff.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import { afterFailing, type Failing, whatToSend } from "./choose-to-send.ts";
import { classifyFailure } from "./classify-failure.ts";
import type { HeldBlobs } from "./held-blobs.ts";
import type { SendGate } from "./send-gate.ts";
import { type Left, type SpooledItems, sendFiles } from "./send-next.ts";
import type { SendRateLimit } from "./send-rate-limit.ts";
import type { Spool, SpoolFile } from "./spool.ts";
import { readResultLine } from "./spooled-line.ts";

/** If this many different files fail one after the other, the farm counts as failing for all. */
const otherTries = 3;

/** A pause that only an event ends. */
const longMs = 3_600_000;

interface SenderParts {
  readonly farm: GranaryFarm;
  /** The granary's store, from which the sent blobs are read. */
  readonly local: Pick<DiskBlobStore, "get" | "read">;
  readonly logger: Logger;
  readonly spool: Spool;
  /** Blobs that the store must not trim, because waiting results refer to them. */
  readonly held: HeldBlobs;
  readonly gate: SendGate;
  /** Unlimited when undefined. */
  readonly pace: SendRateLimit | undefined;
}

/** The state of sending the files of an outbox, one after the other. */
interface Sender extends SenderParts {
  readonly stopping: AbortController;
  readonly sending: Set<SpoolFile>;
  /** By path, because the rest of a file keeps its path. */
  readonly failing: Map<string, Failing>;
  sentBytes: number;
  droppedResults: number;
  /** The reason why nothing can be sent. */
  trouble: string | undefined;
  /** The number of items that were dropped since the outbox was last empty, because of its limits. */
  overflow: number;
  /** The number of consecutive failures. */
  failures: number;
  /** Ends the pause. */
  wake: AbortController;
  /** Callers that wait until nothing is left, or nothing can be sent. */
  waiters: (() => void)[];
}

export function newSender(parts: SenderParts): Sender {
  return {
    ...parts,
    stopping: new AbortController(),
    sending: new Set(),
    failing: new Map(),
    sentBytes: 0,
    droppedResults: 0,
    trouble: undefined,
    overflow: 0,
    failures: 0,
    wake: new AbortController(),
    waiters: [],
  };
}

export function failureOf({ failing }: Sender, { path }: SpoolFile): Failing | undefined {
  return failing.get(path);
}

/** Sends waiting data, the oldest first, until the outbox is stopped. */
export async function sendAll(sender: Sender): Promise<void> {
  while (!sender.stopping.signal.aborted) {
    const next = sender.gate.isHeld()
      ? ({ kind: "nothing" } as const)
      : whatToSend(sender.spool.files(), (file) => failureOf(sender, file), performance.now());
    if (next.kind !== "send") {
      if (sender.spool.files().length === 0) sender.overflow = 0;
      // The farm answers; or sending is held, and it does not matter whether the farm answers.
      if (!sender.gate.isHeld()) sender.trouble = undefined;
      settle(sender);
      await pause(sender, next.kind === "wait" ? next.untilMs - performance.now() : longMs);
      continue;
    }
    let reason: unknown;
    try {
      const because = await attempt(sender, next.files);
      sender.trouble = undefined;
      if (because === undefined) {
        if (sender.failures > 0)
          sender.logger.info({ failures: sender.failures }, "the outbox is being emptied again");
        sender.failures = 0;
        continue;
      }
      reason = because;
    } catch (caught) {
      if (sender.stopping.signal.aborted) return;
      reason = caught;
      sender.trouble = messageOf(caught);
    } finally {
      sender.sending.clear();
    }
    sender.failures++;
    if (sender.failures === 1) {
      sender.logger.warn({ reason: messageOf(reason) }, "the outbox waits for the farm");
    }
    // When one file fails, others may still be sent: waiting callers are informed after some more failures.
    if (sender.trouble !== undefined || sender.failures > otherTries) settle(sender);
    await pause(sender, backoffMs(sender.failures, Math.random()));
  }
}

/**
 * Returns the reason why none of the files was accepted (they are retried later); undefined when some were accepted.
 * Throws when nothing can be sent at all.
 */
async function attempt(sender: Sender, files: readonly SpoolFile[]): Promise<string | undefined> {
  const { farm, local } = sender;
  // The state of the connection, before a call would fail.
  if (farm.isAway()) {
    const why = farm.awayBecause?.();
    const how = why === undefined ? "" : `: ${why}`;
    throw new Fault("unavailable", `the farm cannot be reached${how}`);
  }
  const context = {
    farm,
    local,
    pass: (bytes: number) => mayPass(sender, bytes),
    onSent: (bytes: number) => {
      sender.sentBytes += bytes;
    },
    onDropped: (what: SpooledItems, because: string) => noteDropped(sender, what, because),
  };
  for (const file of files) sender.sending.add(file);
  try {
    const left = await sendFiles(sender.spool, files, context);
    await keepLeft(sender, files, left);
    const hasMoved =
      left.length < files.length || left.some(({ file, lines }) => lines.length < file.items);
    return hasMoved ? undefined : left[0]?.because;
  } catch (reason) {
    if (classifyFailure(reason) !== "failing" || sender.stopping.signal.aborted) throw reason;
    for (const file of files) noteFailure(sender, file, messageOf(reason));
    return messageOf(reason);
  }
}

/** Stores the remaining lines in place of the file; the rest of these files is done. */
async function keepLeft(
  sender: Sender,
  files: readonly SpoolFile[],
  left: readonly Left[],
): Promise<void> {
  for (const { file, lines, because } of left) {
    if (lines.length < file.items) {
      const before = await sender.spool.lines(file);
      await sender.spool.keepOnly(file, lines);
      if (file.kind === "results") {
        for (const result of resultsIn(lines)) sender.held.add(result);
        for (const result of resultsIn(before)) sender.held.release(result);
      }
    }
    noteFailure(sender, file, because);
  }
  await removeFiles(
    sender,
    files.filter((file) => !left.some((its) => its.file === file)),
  );
}

function noteFailure(sender: Sender, file: SpoolFile, because: string): void {
  const now = performance.now();
  sender.failing.set(
    file.path,
    afterFailing(sender.failing.get(file.path), because, now, Math.random()),
  );
}

/** Removes files that are sent, or given up. */
export async function removeFiles(sender: Sender, files: readonly SpoolFile[]): Promise<void> {
  await Promise.all(
    files.map(async (file) => {
      sender.failing.delete(file.path);
      const lines = await sender.spool.remove(file);
      if (file.kind === "results")
        for (const result of resultsIn(lines)) sender.held.release(result);
    }),
  );
}

export function noteDropped(sender: Sender, what: SpooledItems, because: string): void {
  sender.droppedResults += what.results;
  sender.logger.warn({ ...what, because }, "dropped data that the farm will not receive");
}

/** Resolves when this number of bytes may be sent. */
async function mayPass(sender: Sender, bytes: number): Promise<void> {
  await sender.gate.opened(sender.stopping.signal);
  if (bytes > 0) await sender.pace?.(bytes, sender.stopping.signal);
  if (sender.stopping.signal.aborted) throw new Fault("cancelled", "the granary is being stopped");
}

/** Informs waiting callers that nothing is left or nothing can be sent. */
export function settle(sender: Sender): void {
  const settled = sender.waiters;
  sender.waiters = [];
  for (const resolve of settled) resolve();
}

/** Ends the pause. */
export function endPause(sender: Sender): void {
  // A constant reason: the default one is an error with a stack trace, which would be created for each result.
  sender.wake.abort("awake");
  sender.wake = new AbortController();
}

/** Ends early when something is added, or a caller waits for the outbox to be empty. */
async function pause(sender: Sender, ms: number): Promise<void> {
  if (sender.stopping.signal.aborted) return;
  await rest(ms, AbortSignal.any([sender.wake.signal, sender.stopping.signal]));
}

export function resultsIn(lines: readonly string[]): GranaryResult[] {
  return lines.map(readResultLine).filter((result) => result !== undefined);
}
