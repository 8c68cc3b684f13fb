import { closeSync, existsSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { type KernelLock, lockOpenFile } from "./lock-open-file.ts";
import {
  type Holder,
  holderIn,
  isOfThisBoot,
  isSeenAlive,
  isVisibleHere,
  type LockRecord,
  lockRecordText,
  ownRecord,
  parseLockRecord,
} from "./lock-record.ts";

export type { Holder } from "./lock-record.ts";

export interface HeldLock {
  /**
   * Aborted when another process has the lock, or its file was removed. From then on the guarded data must not be
   * written.
   */
  readonly lost: AbortSignal;
  /** Checks now, and not only at the next heartbeat, whether this process still has the lock. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

export interface LockTimes {
  /** How often a holder sends a heartbeat. */
  readonly beatMs: number;
  /**
   * How long the heartbeat of a holder is watched before its lock is taken, in ms, when the kernel has no information
   * about the holder.
   */
  readonly silenceMs: number;
  /** How long another process may take to complete a write to the file that it has started, in ms. */
  readonly settleMs: number;
}

const defaultTimes: LockTimes = { beatMs: 3_000, silenceMs: 20_000, settleMs: 1_000 };
const watchEveryMs = 250;
/** A holder writes its record directly after it gets the kernel's lock. */
const recordWithinMs = 1_000;

export interface LockOptions {
  /** Called when the process starts to wait until the last holder has been silent long enough, with the time in ms. */
  readonly waits?: (holder: Holder, ms: number) => void;
  readonly times?: LockTimes;
  /** Takes the kernel's lock; tests replace it for file systems without locks. */
  readonly lockFile?: (file: number, directories: readonly string[]) => Promise<KernelLock>;
}

/**
 * Takes a lock on disk that ends with its process, also after kill -9. Returns the holder if another process has it.
 *
 * It is the kernel's lock on the open file. Process numbers are not used, because they mean nothing in another
 * container. When the last holder ran under another kernel, its locks may not be visible here; and some file systems
 * have no locks. Then the heartbeat decides: the holder touches the file, and a process that wants the lock checks with
 * its own clock whether that continues. A holder that was wrongly taken for dead, such as a suspended machine, notices
 * it at its next heartbeat (`lost`).
 */
export async function takeLock(
  path: string,
  name: string,
  options: LockOptions = {},
): Promise<{ readonly lock: HeldLock } | { readonly holder: Holder }> {
  try {
    for (;;) {
      // Avoids starting a process for each check during a wait.
      const seen = recordAt(path);
      if (seen && isSeenAlive(seen)) return { holder: holderIn(seen) };
      const file = openLockFile(path);
      if (file === undefined) continue;
      const taken = await takeOpened(file, path, name, options).catch((cause: unknown) => {
        closeSync(file);
        throw cause;
      });
      if (taken !== "again" && "lock" in taken) return taken;
      closeSync(file);
      if (taken !== "again") return taken;
    }
  } catch (cause) {
    const why = messageOf(cause);
    throw new Fault("failed_precondition", `cannot make the lock ${path}: ${why}`, { cause });
  }
}

/**
 * Returns the holder; undefined when no living process has the lock. It takes no lock and starts no process; it is fast
 * when there is no lock.
 *
 * For a process that is not visible from here, the time of its last heartbeat is compared with this machine's clock.
 */
export function holderOf(path: string): Holder | undefined {
  if (!existsSync(path)) return undefined;
  const record = recordAt(path);
  if (record === undefined) return undefined;
  const lives = isVisibleHere(record) ? isSeenAlive(record) : wasTouchedLately(path);
  return lives ? holderIn(record) : undefined;
}

/** Resolves, with a message, when another process has the guarded data. */
export function untilLost(lost: AbortSignal, guarded: string): Promise<string> {
  return new Promise((resolve) => {
    const onLost = () => resolve(`another process has locked ${guarded}`);
    if (lost.aborted) onLost();
    else lost.addEventListener("abort", onLost, { once: true });
  });
}

/** Returns "again" when the file is not the lock's file any more. */
async function takeOpened(
  file: number,
  path: string,
  name: string,
  options: LockOptions,
): Promise<{ readonly lock: HeldLock } | { readonly holder: Holder } | "again"> {
  const { times = defaultTimes, lockFile = lockOpenFile, waits } = options;
  const kernel = await lockFile(file, [dirname(path)]);
  if (kernel === "held") return heldBy(path);
  if (!isStillAt(file, path)) return "again";
  const last = recordAt(path);
  // The kernel that released the lock is the same one that granted it.
  const isProven = last === undefined ? kernel === "locked" : isKnownGone(last, kernel);
  if (last && !isProven) {
    waits?.(holderIn(last), times.silenceMs);
    if (await isBeating(path, times.silenceMs)) return { holder: holderIn(last) };
    if (!isStillAt(file, path)) return "again";
  }
  const record = ownRecord(name);
  await writeRecord(path, record);
  if (!isProven) {
    await rest(times.settleMs);
    const now = recordAt(path);
    if (now === undefined) return "again";
    if (now.id !== record.id) return { holder: holderIn(now) };
  }
  return { lock: holding(file, path, record, times) };
}

function isKnownGone(last: LockRecord, kernel: KernelLock): boolean {
  if (kernel === "locked") return isOfThisBoot(last);
  // Such systems have no containers, and all processes of a machine are visible.
  return process.platform !== "linux" && isVisibleHere(last) && !isSeenAlive(last);
}

function holding(file: number, path: string, record: LockRecord, times: LockTimes): HeldLock {
  const losing = new AbortController();
  let last: Date | undefined;
  let beating = Promise.resolve();
  const beatOnce = async () => {
    const beaten = await beat(path, record, last);
    if (beaten !== "lost") {
      last = beaten;
      return;
    }
    clearInterval(timer);
    losing.abort();
  };
  const beatNow = () => {
    beating = beating.then(beatOnce);
    return beating;
  };
  const timer = setInterval(() => void beatNow(), times.beatMs);
  timer.unref();
  let released: Promise<void> | undefined;
  const release = async () => {
    clearInterval(timer);
    await beating;
    // While the lock is still held: a process that has the file open detects that it was removed.
    if (recordAt(path)?.id === record.id) await rm(path, { force: true });
    closeSync(file);
  };
  return {
    lost: losing.signal,
    async isHeld() {
      if (released === undefined) await beatNow();
      return released === undefined && !losing.signal.aborted;
    },
    release() {
      released ??= release();
      return released;
    },
  };
}

/**
 * Touches the file to show that the holder is alive. Returns the time that it set; undefined when it could not check.
 *
 * Returns "lost" when another process has the lock. Only the time of the file is changed, which needs no space on a
 * full disk. The file is read only if its time is not that of the last heartbeat: a process that takes the lock writes
 * into it, and each read takes five turns of Node's thread pool.
 */
async function beat(
  path: string,
  record: LockRecord,
  last: Date | undefined,
): Promise<Date | "lost" | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    const isUntouched = last !== undefined && Math.abs(mtimeMs - last.getTime()) < 1;
    if (!isUntouched && parseLockRecord(await readFile(path, "utf8"))?.id !== record.id) {
      return "lost";
    }
    const now = new Date();
    await utimes(path, now, now);
    return now;
  } catch (cause) {
    // An unreadable disk is no evidence about the lock.
    return (cause as NodeJS.ErrnoException).code === "ENOENT" ? "lost" : undefined;
  }
}

/** Watches a file for this long; returns true as soon as a process writes or touches it. */
async function isBeating(path: string, silenceMs: number): Promise<boolean> {
  const until = performance.now() + silenceMs;
  const first = await lookAt(path);
  while (performance.now() < until) {
    await rest(Math.min(watchEveryMs, silenceMs / 4));
    const now = await lookAt(path);
    // The file was removed: its holder was alive, and has released the lock.
    if (now === undefined) return false;
    if (now !== first) return true;
  }
  return false;
}

/** Opened for each check, because network file systems only then query their server. */
async function lookAt(path: string): Promise<string | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { mtimeMs } = await file.stat();
    return `${mtimeMs} ${await file.readFile("utf8")}`;
  } finally {
    await file.close();
  }
}

/** Returns the holder of a lock that the kernel reports as held. */
async function heldBy(path: string): Promise<{ readonly holder: Holder } | "again"> {
  const until = performance.now() + recordWithinMs;
  for (;;) {
    const record = recordAt(path);
    if (record) return { holder: holderIn(record) };
    if (!existsSync(path)) return "again";
    if (performance.now() > until) {
      const since = new Date((await stat(path)).mtimeMs).toISOString();
      return { holder: { name: "unknown", pid: 0, where: "a process without a name", since } };
    }
    await rest(10);
  }
}

/**
 * Opens the lock's file and creates it if necessary; undefined when another process created or removed it meanwhile.
 *
 * For an existing file it does not use `O_CREAT`: in a sticky directory, the kernel refuses that for another user's
 * file.
 */
function openLockFile(path: string): number | undefined {
  try {
    return openSync(path, "r+");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // The file belongs to another user: it can be locked, and its holder can be read.
    if (code === "EACCES") return openSync(path, "r");
    if (code !== "ENOENT") throw cause;
  }
  try {
    return openSync(path, "wx+", 0o644);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw cause;
  }
}

/** Returns whether the open file still has this name: a holder removes the file when it releases the lock. */
function isStillAt(file: number, path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  const { dev, ino } = fstatSync(file);
  return found !== undefined && found.ino === ino && found.dev === dev;
}

async function writeRecord(path: string, record: LockRecord): Promise<void> {
  const file = await open(path, "r+");
  try {
    const text = lockRecordText(record);
    await file.truncate(0);
    await file.write(text, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
}

function recordAt(path: string): LockRecord | undefined {
  try {
    return parseLockRecord(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function wasTouchedLately(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs < defaultTimes.silenceMs;
}
