import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Syncs the file system of a directory. Callers that come while it is synced share the next time. */
export class SharedSync {
  readonly #directory: string;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Resolves when all that was written before the call is on the disk. */
  sync(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    return this.#next;
  }

  #start(): Promise<void> {
    const running = run("sync", ["-f", this.#directory]).then(() => {});
    this.#running = running;
    const end = () => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(end, end);
    return running;
  }
}
