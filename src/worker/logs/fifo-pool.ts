import { closeSync, constants, openSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { giveToJobs } from "#machine/job-owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import type { HelperShell } from "../helper-shell.ts";
import { quoteForShell } from "../quote-for-shell.ts";

const batch = 32;

/** The prefix of the directory's own name. */
export const pipesPrefix = "grange-pipes-";
/** The name of the link to it in the directory of the worker's process. */
export const pipesLink = "pipes";

/** The two ends of a pipe; both are the taker's to close. */
interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/**
 * Real pipes, which Node cannot make: it gives children sockets, and a shell's `> /dev/stdout` fails on those. A file
 * instead of a pipe would be truncated by it.
 *
 * They are in the directory for temporary files: a job can read the path of its standard output (`readlink
 * /proc/self/fd/1`), and must not learn where the worker's data are.
 */
export class FifoPool {
  readonly #shell: HelperShell;
  readonly #runDir: string;
  #directory: string | undefined;
  readonly #ready: string[] = [];
  #made = 0;
  #making: Promise<void> | undefined;

  constructor(shell: HelperShell, runDir: string) {
    this.#shell = shell;
    this.#runDir = runDir;
  }

  /** Removes the pipes that were not taken. */
  async close(): Promise<void> {
    await this.#making?.catch(() => {});
    this.#ready.length = 0;
    if (this.#directory !== undefined) await removeTree(this.#directory);
    this.#directory = undefined;
  }

  /** Returns a pipe whose reader waits for data: for the stdin of a child. */
  async takeBlocking(): Promise<Pipe> {
    return this.#open((path, readEnd) => {
      const writeEnd = openSync(path, constants.O_WRONLY);
      // The end that does not wait is no longer needed, because there is a writer now.
      const blocking = openSync(path, constants.O_RDONLY);
      closeSync(readEnd);
      return { readEnd: blocking, writeEnd };
    });
  }

  take(): Promise<Pipe> {
    return this.#open((path, readEnd) => ({
      readEnd,
      writeEnd: openSync(path, constants.O_WRONLY),
    }));
  }

  async #open(open: (path: string, readEnd: number) => Pipe): Promise<Pipe> {
    // Made in batches: one process makes them all.
    while (this.#ready.length === 0) {
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
    const path = this.#ready.pop() ?? "";
    // In this order neither waits for the other.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return open(path, readEnd);
    } catch (reason) {
      closeSync(readEnd);
      throw reason;
    } finally {
      rmSync(path, { force: true });
    }
  }

  /**
   * Makes the directory of the pipes, with a link beside the worker's other files, by which it is found after the
   * worker was killed.
   */
  async #makeDirectory(): Promise<string> {
    await mkdir(this.#runDir, { recursive: true });
    const directory = await mkdtemp(join(tmpdir(), pipesPrefix));
    await symlink(directory, join(this.#runDir, pipesLink));
    return directory;
  }

  async #make(): Promise<void> {
    const directory = (this.#directory ??= await this.#makeDirectory());
    const paths = Array.from({ length: batch }, () => join(directory, `${this.#made++}`));
    await this.#shell.run(`mkfifo ${paths.map(quoteForShell).join(" ")}`);
    // A job opens its own standard output again when it writes to /dev/stdout.
    for (const path of paths) giveToJobs(path);
    this.#ready.push(...paths);
  }
}
