import { closeSync, constants, openSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { HelperShell } from "../helper-shell.ts";
import { giveToJobs } from "../job-owner.ts";
import { quoteForShell } from "../quote-for-shell.ts";

const batch = 32;

/** The two ends of a pipe; both are the taker's to close. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/**
 * Real pipes, which Node does not make: it gives children sockets, and a shell's
 * `> /dev/stdout` fails on those. A file in place of a pipe would be cut to
 * nothing by it.
 */
export class FifoPool {
  readonly #shell: HelperShell;
  readonly #directory: string;
  readonly #ready: string[] = [];
  #made = 0;
  #making: Promise<void> | undefined;

  constructor(shell: HelperShell, runDir: string) {
    this.#shell = shell;
    this.#directory = join(runDir, "pipes");
  }

  /** A pipe whose reader waits for what is written: for a child's stdin. */
  async takeBlocking(): Promise<Pipe> {
    return this.#open((path, readEnd) => {
      const writeEnd = openSync(path, constants.O_WRONLY);
      // The one that does not wait has done its service: there is a writer now.
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

  async #make(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const paths = Array.from({ length: batch }, () => join(this.#directory, `${this.#made++}`));
    await this.#shell.run(`mkfifo ${paths.map(quoteForShell).join(" ")}`);
    // A job opens its own standard output anew when it writes to /dev/stdout.
    for (const path of paths) giveToJobs(path);
    this.#ready.push(...paths);
  }
}
