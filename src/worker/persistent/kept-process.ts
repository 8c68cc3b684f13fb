import { Socket } from "node:net";
import type { WorkResponse } from "#proto/blaze/worker/worker_protocol_pb.ts";
import type { ExecutionPlace } from "../execution-places.ts";
import type { HelperShell } from "../helper-shell.ts";
import type { InputRoot } from "../input-root/input-root.ts";
import { killQuietly } from "../limits/cgroup-files.ts";
import type { SpawnedProcess } from "../spawned-process.ts";
import type { Kept } from "./choose-process.ts";
import { ReplaceableRoot } from "./replaceable-root.ts";
import { ProtocolError, ResponseReader, type WorkerProtocol } from "./worker-protocol.ts";

/** The end of what a process prints on stderr during a request: for the worker's log, and for an action that hangs. */
const mostLastWords = 2_048;

/** The request that the process is serving. */
interface Waiting {
  readonly resolve: (response: WorkResponse) => void;
  readonly reject: (reason: ProtocolError) => void;
}

/** A sandbox with a process that serves actions, one at a time. */
export class KeptProcess implements Kept {
  readonly key: string;
  isBusy = true;
  lastUsedMs = performance.now();
  /** The number of requests that it has got. */
  requests = 0;
  #opened: { readonly place: ExecutionPlace; readonly root: ReplaceableRoot } | undefined;
  #process: SpawnedProcess | undefined;
  #sockets: Socket[] = [];
  #stdin: Socket | undefined;
  readonly #reader: ResponseReader;
  #waiting: Waiting | undefined;
  #lastWords = "";
  /** Why it can serve no more requests. */
  #broken: ProtocolError | undefined;
  #ending: Promise<void> | undefined;
  readonly #releases: (() => void)[] = [];
  /** Called once, when it can serve no more requests. */
  readonly #whenBroken: (process: KeptProcess) => void;

  constructor(key: string, protocol: WorkerProtocol, whenBroken: (process: KeptProcess) => void) {
    this.key = key;
    this.#reader = new ResponseReader(protocol);
    this.#whenBroken = whenBroken;
  }

  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  get hasBegun(): boolean {
    return this.#process !== undefined;
  }

  get lastWords(): string {
    return this.#lastWords;
  }

  /** Makes its directories and its control group, if they are not there. */
  async open(shell: HelperShell, take: () => Promise<ExecutionPlace>): Promise<ExecutionPlace> {
    if (this.#opened !== undefined) return this.#opened.place;
    const place = await take();
    try {
      this.#opened = { place, root: await ReplaceableRoot.open(shell, place.scratch) };
    } catch (reason) {
      await place.dispose();
      throw reason;
    }
    return place;
  }

  async attach(root: InputRoot): Promise<void> {
    await this.#opened?.root.attach(root);
  }

  async detach(root: InputRoot): Promise<void> {
    await this.#opened?.root.detach(root);
  }

  /** Notes what to release after its end, such as its image. */
  whenEnded(release: () => void): void {
    this.#releases.push(release);
  }

  /** Takes over a process that was started in the place. */
  begin(process: SpawnedProcess): void {
    this.#process = process;
    if (process.pid !== undefined) this.#opened?.place.group.began(process.pid);
    const stdin = new Socket({ fd: process.stdin ?? -1, readable: false, writable: true });
    const stdout = new Socket({ fd: process.stdout, readable: true, writable: false });
    const stderr = new Socket({ fd: process.stderr, readable: true, writable: false });
    this.#stdin = stdin;
    this.#sockets = [stdin, stdout, stderr];
    // Its end gives the reason.
    for (const socket of this.#sockets) socket.on("error", () => {});
    stdout.on("data", (bytes: Buffer) => this.#hear(bytes));
    stderr.on("data", (bytes: Buffer) => {
      this.#lastWords = (this.#lastWords + bytes.toString("latin1")).slice(-mostLastWords);
    });
    process.exited.then(
      (code) => this.#break(new ProtocolError(`it ended with exit code ${code}`)),
      (cause: unknown) => this.#break(new ProtocolError("it could not be started", { cause })),
    );
  }

  /** Sends a request. Rejects with `ProtocolError` when it does not answer with a response. */
  async request(bytes: Buffer): Promise<WorkResponse> {
    if (this.#broken !== undefined) throw this.#broken;
    this.requests++;
    this.#lastWords = "";
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#stdin?.write(bytes);
    });
  }

  #hear(bytes: Buffer): void {
    if (this.#broken !== undefined) return;
    try {
      const response = this.#reader.push(bytes);
      if (this.#waiting === undefined)
        throw new ProtocolError("it printed something without a request");
      if (response === undefined) return;
      if (this.#reader.hasMore) throw new ProtocolError("it printed more than its response");
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting.resolve(response);
    } catch (reason) {
      this.#break(
        reason instanceof ProtocolError
          ? reason
          : new ProtocolError("its output cannot be read", { cause: reason }),
      );
    }
  }

  #break(reason: ProtocolError): void {
    if (this.#broken !== undefined) return;
    this.#broken = reason;
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
    this.#whenBroken(this);
  }

  /** Ends the process with all that it started, and removes its directories. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#broken ??= new ProtocolError("it was ended");
    this.#waiting?.reject(this.#broken);
    this.#waiting = undefined;
    if (this.#process?.pid !== undefined) killQuietly(-this.#process.pid);
    await this.#opened?.place.group.kill();
    await this.#process?.exited.catch(() => {});
    for (const socket of this.#sockets) socket.destroy();
    await this.#opened?.root.close().catch(() => {});
    try {
      await this.#opened?.place.dispose();
    } finally {
      for (const release of this.#releases.splice(0)) release();
    }
  }
}
