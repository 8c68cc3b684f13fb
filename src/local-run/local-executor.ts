import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestFunctionValues } from "#cas/digest-message.ts";
import { type DiskBlobStore, openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { buildAction } from "#graphs/build-action.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { LeaseSchema, Outcome, WorkSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { WorkerConfig } from "#worker/config.ts";
import { ActionExecutor } from "#worker/execute-action.ts";
import type { InputRoots } from "#worker/input-root/input-root.ts";
import { sweepLeftovers } from "#worker/leftovers.ts";
import type { CapturedLog } from "#worker/logs/captured-log.ts";
import { type Machine, openMachine } from "#worker/machine.ts";
import { trimStore } from "#worker/trim-store.ts";

/** The result of a job on this machine. */
export interface LocalEnd {
  readonly succeeded: boolean;
  /** The exit code of the job's commands; undefined if they did not start or were killed. */
  readonly exitCode: number | undefined;
  /** Why it did not succeed; empty if it did. */
  readonly message: string;
  readonly result: ActionResult | undefined;
  readonly durationMs: number;
}

interface LocalRun extends LocalOutput {
  readonly definition: JobDefinition;
  readonly inputRoot: Digest;
}

/** An action as the store has it: the encoded messages of REv2. */
interface LocalAction extends LocalOutput {
  readonly action: Uint8Array;
  readonly command: Uint8Array;
  readonly timeoutMs: number;
  readonly digestFunction: DigestFunction;
}

interface LocalOutput {
  /** Receives the job's output as it arrives. */
  readonly print: (bytes: Uint8Array) => void;
  readonly signal: AbortSignal;
}

const trimEveryMs = 60 * 60_000;

const mostReadAtOnce = 256 * 1024;

/** Executes jobs like a worker of this machine: with the same input roots, sandbox, limits and environment. */
export class LocalExecutor {
  readonly #machine: Machine;
  readonly #executor: ActionExecutor;
  readonly #config: WorkerConfig;
  #count = 0;

  private constructor(machine: Machine, config: WorkerConfig) {
    this.#machine = machine;
    this.#config = config;
    this.#executor = new ActionExecutor(machine, config);
  }

  /** `rootsOf` replaces the machine's own way of making input roots. */
  static async open(
    config: WorkerConfig,
    rootsOf: (machine: Machine) => InputRoots = (machine) => machine.inputRoots,
  ): Promise<LocalExecutor> {
    await sweepLeftovers(config.dataDir);
    const machine = await openMachine(config);
    return new LocalExecutor({ ...machine, inputRoots: rootsOf(machine) }, config);
  }

  /** The features of this machine for jobs, for people. */
  get facilities(): Readonly<Record<string, string>> {
    return this.#machine.facilities;
  }

  /** Opens a store for results. It is removed together with the executor. */
  openResults(): Promise<DiskBlobStore> {
    return openDiskBlobStore(join(this.#machine.runDir, "results"));
  }

  run({ definition, inputRoot, ...run }: LocalRun, store: BlobStore): Promise<LocalEnd> {
    const { action, command, timeoutMs } = buildAction(definition, inputRoot);
    const bytes = { action: action.bytes, command: command.bytes };
    return this.runAction({ ...run, ...bytes, timeoutMs, digestFunction: "sha256" }, store);
  }

  /** Runs an action of any client. The store has its inputs, and gets its outputs. */
  async runAction(run: LocalAction, store: BlobStore): Promise<LocalEnd> {
    const work = create(WorkSchema, {
      lease: create(LeaseSchema, { executionId: `local-${++this.#count}`, attempt: 1, epoch: 1n }),
      action: run.action,
      command: run.command,
      timeout: durationFromMs(run.timeoutMs),
      project: "local",
      digestFunction: digestFunctionValues[run.digestFunction],
    });
    const begunMs = performance.now();
    let printing: PrintedLog | undefined;
    const stop = new AbortController();
    const cancel = () => stop.abort("cancelled");
    if (run.signal.aborted) cancel();
    run.signal.addEventListener("abort", cancel, { once: true });
    const executed = await this.#executor.execute(work, store, {
      stop: stop.signal,
      started: (log) => {
        printing = new PrintedLog(log, run.print);
      },
    });
    run.signal.removeEventListener("abort", cancel);
    await printing?.end();
    const durationMs = performance.now() - begunMs;
    if (executed.kind !== "finished") {
      const message = executed.kind === "no-room" ? messageOf(executed.reason) : "it was stopped";
      return { succeeded: false, exitCode: undefined, message, result: undefined, durationMs };
    }
    const { outcome, result, message } = executed.finished;
    const succeeded = outcome === Outcome.SUCCEEDED;
    return {
      succeeded,
      exitCode: result?.exitCode,
      message: succeeded ? "" : message || "it failed",
      result,
      durationMs,
    };
  }

  /** Removes the remains of jobs, and sometimes trims the stored inputs to their limit. */
  async close(): Promise<void> {
    await this.#executor.cleared();
    await this.#trimAtTimes();
    await this.#machine.close();
  }

  async #trimAtTimes(): Promise<void> {
    const { dataDir, storeBytes } = this.#config;
    const mark = join(dataDir, "local-run", "trimmed");
    const last = await stat(mark).catch(() => undefined);
    if (last !== undefined && Date.now() - last.mtimeMs < trimEveryMs) return;
    await mkdir(dirname(mark), { recursive: true });
    await writeFile(mark, "");
    // At the first run there is nothing to remove.
    if (last === undefined) return;
    const { local, layers } = this.#machine;
    await trimStore(dataDir, local, layers, storeBytes, new Date());
  }
}

/** Prints a log while it grows, and closes it at its end. */
class PrintedLog {
  readonly #log: CapturedLog;
  readonly #print: (bytes: Uint8Array) => void;
  #printedBytes = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(log: CapturedLog, print: (bytes: Uint8Array) => void) {
    this.#log = log;
    this.#print = print;
    log.onGrown(() => {
      this.#reading = this.#reading.then(() => this.#read());
    });
  }

  async end(): Promise<void> {
    await this.#reading;
    await this.#read();
    await this.#log.close();
  }

  async #read(): Promise<void> {
    while (this.#printedBytes < this.#log.sizeBytes) {
      const bytes = await this.#log.readAt(this.#printedBytes, mostReadAtOnce);
      if (bytes.byteLength === 0) return;
      this.#printedBytes += bytes.byteLength;
      this.#print(bytes);
    }
  }
}
