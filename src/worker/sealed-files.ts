import * as fs from "node:fs";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { giveOpenFileToJobs } from "#machine/job-owner.ts";

/** A file to be created; its bytes are in memory and verified. */
interface UnsealedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** How long files are written without a pause, before heartbeats and logs get their turn. */
const goMs = 3;
/** A batch that took this long indicates a busy disk. */
const busyGoMs = 25;
/** How long files are then written from other threads. */
const busyForMs = 1_000;
/** libuv has four threads. */
const atOnceWhenBusy = 4;

const open = promisify(fs.open);
const writeAll = promisify(fs.writeFile);
const fchmod = promisify(fs.fchmod);
const futimes = promisify(fs.futimes);
const close = promisify(fs.close);

/**
 * Creates small files, many at a time, under their final names.
 *
 * A file counts as complete when it has a certain modification time, which is set at the end: before that it is
 * recognised as incomplete. So it does not have to be written under another name and renamed, which costs as much as
 * creating it.
 *
 * Synchronous, because a call in the thread pool costs twice as much: a file takes 25 µs of CPU this way, and 90 µs
 * with `fs/promises`. But a busy disk would also stop heartbeats, so after a slow batch, files are written in the
 * thread pool for some time.
 */
export class SealedFiles {
  readonly #mtime: number;
  readonly #nowMs: () => number;
  #busyUntilMs = 0;

  /** @param mtime In seconds since 1970: the time that marks a file as complete. */
  constructor(mtime: number, nowMs = () => performance.now()) {
    this.#mtime = mtime;
    this.#nowMs = nowMs;
  }

  /**
   * Creates the files; returns those whose names already exist, from another process that writes the same file or from
   * a crash.
   */
  async make<F extends UnsealedFile>(files: readonly F[]): Promise<F[]> {
    const taken: F[] = [];
    let next = 0;
    while (next < files.length) {
      const began = this.#nowMs();
      if (began < this.#busyUntilMs) {
        const some = files.slice(next, next + atOnceWhenBusy);
        next += some.length;
        const made = await Promise.all(some.map((file) => this.#makeElsewhere(file)));
        taken.push(...some.filter((_, at) => made[at] === "taken"));
        continue;
      }
      let ended = began;
      while (next < files.length && ended - began < goMs) {
        const file = files[next++] as F;
        if (this.#make(file) === "taken") taken.push(file);
        ended = this.#nowMs();
      }
      if (ended - began > busyGoMs) this.#busyUntilMs = ended + busyForMs;
      await setImmediate();
    }
    return taken;
  }

  #make({ path, bytes, mode }: UnsealedFile): "made" | "taken" {
    let file: number;
    try {
      file = fs.openSync(path, "wx", mode);
    } catch (reason) {
      return takenOr(reason);
    }
    try {
      fs.writeFileSync(file, bytes);
      // Independent of the umask of this process.
      fs.fchmodSync(file, mode);
      giveOpenFileToJobs(file);
      fs.futimesSync(file, this.#mtime, this.#mtime);
    } catch (reason) {
      fs.rmSync(path, { force: true });
      throw reason;
    } finally {
      fs.closeSync(file);
    }
    return "made";
  }

  /** The same in the thread pool, while this thread does other work. */
  async #makeElsewhere({ path, bytes, mode }: UnsealedFile): Promise<"made" | "taken"> {
    let file: number;
    try {
      file = await open(path, "wx", mode);
    } catch (reason) {
      return takenOr(reason);
    }
    try {
      await writeAll(file, bytes);
      await fchmod(file, mode);
      giveOpenFileToJobs(file);
      await futimes(file, this.#mtime, this.#mtime);
    } catch (reason) {
      await fs.promises.rm(path, { force: true });
      throw reason;
    } finally {
      await close(file);
    }
    return "made";
  }
}

/** If a shard was removed, the other method creates the file. */
function takenOr(reason: unknown): "taken" {
  const errno = errnoOf(reason);
  if (errno === "EEXIST" || errno === "ENOENT") return "taken";
  throw reason;
}
