import { closeSync, constants, openSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { giveToJobs } from "#machine/job-owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import type { HelperShell } from "../helper-shell.ts";
import { quoteForShell } from "../quote-for-shell.ts";

const batch = 32;

/** A file system in memory: on a disk, three files for each job would be made and removed. */
const inMemory = "/dev/shm";

/** The prefix of the directory's name. */
export const pipesPrefix = "grange-pipes-";
/** The name of the link to this directory in the directory of the worker's process. */
export const pipesLink = "pipes";

/** The two ends of a pipe; the caller that takes it must close both. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** A pipe with a name, and its read end, which does not block. */
export interface NamedPipe {
  readonly path: string;
  /** The caller must close it. */
  readonly readEnd: number;
  /** Removes the name. The caller must call it once. */
  readonly forget: () => void;
}

/**
 * Real pipes, which Node cannot create: it gives children sockets, and a shell's `> /dev/stdout` fails on those. With a
 * file instead of a pipe, this redirection would truncate the file.
 *
 * They are neither in the worker's directory nor below it: a job can read the path of its standard output (`readlink
 * /proc/self/fd/1`), and must not learn the path of the worker's data.
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

  /** Removes the unused pipes. */
  async close(): Promise<void> {
    await this.#making?.catch(() => {});
    this.#ready.length = 0;
    if (this.#directory !== undefined) await removeTree(this.#directory);
    this.#directory = undefined;
  }

  /** Returns a pipe whose other end another process opens by its path. */
  async takeNamed(): Promise<NamedPipe> {
    const path = await this.#take();
    try {
      const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      return { path, readEnd, forget: () => rmSync(path, { force: true }) };
    } catch (reason) {
      rmSync(path, { force: true });
      throw reason;
    }
  }

  /** Returns a pipe whose reader blocks until data arrives: for the stdin of a child. */
  async takeBlocking(): Promise<Pipe> {
    return this.#open((path, readEnd) => {
      const writeEnd = openSync(path, constants.O_WRONLY);
      try {
        // The non-blocking end is no longer needed, because there is a writer now.
        const blocking = openSync(path, constants.O_RDONLY);
        closeSync(readEnd);
        return { readEnd: blocking, writeEnd };
      } catch (reason) {
        closeSync(writeEnd);
        throw reason;
      }
    });
  }

  take(): Promise<Pipe> {
    return this.#open((path, readEnd) => ({
      readEnd,
      writeEnd: openSync(path, constants.O_WRONLY),
    }));
  }

  async #open(open: (path: string, readEnd: number) => Pipe): Promise<Pipe> {
    // In this order neither call blocks.
    const { path, readEnd, forget } = await this.takeNamed();
    try {
      return open(path, readEnd);
    } catch (reason) {
      closeSync(readEnd);
      throw reason;
    } finally {
      forget();
    }
  }

  async #take(): Promise<string> {
    // Made in batches: one process creates all pipes of a batch.
    for (;;) {
      const path = this.#ready.pop();
      if (path !== undefined) return path;
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  /**
   * Creates the directory of the pipes, and a link to it beside the worker's other files, by which it is found after
   * the worker was killed.
   */
  async #makeDirectory(): Promise<string> {
    await mkdir(this.#runDir, { recursive: true });
    const directory = await mkdtemp(join(inMemory, pipesPrefix)).catch(() =>
      mkdtemp(join(tmpdir(), pipesPrefix)),
    );
    await symlink(directory, join(this.#runDir, pipesLink));
    return directory;
  }

  async #make(): Promise<void> {
    const directory = (this.#directory ??= await this.#makeDirectory());
    const paths = Array.from({ length: batch }, () => join(directory, `${this.#made++}`));
    await this.#shell.run(`mkfifo ${paths.map(quoteForShell).join(" ")}`);
    // A job may open its own standard output again, for example when it writes to /dev/stdout.
    for (const path of paths) giveToJobs(path);
    this.#ready.push(...paths);
  }
}
