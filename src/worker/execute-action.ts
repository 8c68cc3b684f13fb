import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampNow } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { Fault, messageOf } from "#core/fault.ts";
import {
  ActionResultSchema,
  type ExecutedActionMetadata,
  ExecutedActionMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type Finished,
  FinishedSchema,
  Outcome,
  type Work,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { type ActionRequest, environmentOf, parseWork } from "./action-request.ts";
import { finishedWithoutProcess, usageMessage } from "./finished-message.ts";
import type { InputRoot } from "./input-root/input-root.ts";
import { LogJudge } from "./judge/log-judge.ts";
import { judgeOutcome } from "./judge-outcome.ts";
import { groupPrefix } from "./leftovers.ts";
import type { CapturedLog } from "./logs/captured-log.ts";
import { FifoPool } from "./logs/fifo-pool.ts";
import { publishLogs } from "./logs/publish-logs.ts";
import type { Machine } from "./machine.ts";
import { type CollectedOutputs, collectOutputs } from "./outputs/collect-outputs.ts";
import { declaredOutputs, prepareOutputs } from "./outputs/prepare-outputs.ts";
import { publishOutputs } from "./outputs/upload-outputs.ts";
import { ownOwner } from "./owner.ts";
import { removeTree } from "./remove-tree.ts";
import { type ProcessEnd, runProcess } from "./run-process.ts";
import { toolPath } from "./tool-path.ts";

export interface ExecutorSettings {
  readonly name: string;
  readonly path: string;
  readonly logLimitBytes: number;
  readonly killGraceMs: number;
}

/** What the agent knows and decides while an action runs. */
export interface ActionWatch {
  /** Given with a StopReason. */
  readonly stop: AbortSignal;
  /** Called when the process runs and its log begins to grow. The log is the callee's to close. */
  readonly started: (stdout: CapturedLog) => void;
}

/** Executes actions on this machine, any number at a time. */
export class ActionExecutor {
  readonly #machine: Machine;
  readonly #settings: ExecutorSettings;
  readonly #pipes: FifoPool;
  readonly #clearings = new Set<Promise<void>>();
  #count = 0;

  constructor(machine: Machine, settings: ExecutorSettings) {
    this.#machine = machine;
    this.#settings = settings;
    this.#pipes = new FifoPool(machine.shell, machine.runDir);
  }

  /**
   * Executes one action from fetching its inputs to uploading its outputs.
   *
   * Never throws: what goes wrong is an outcome too. Undefined when the lease was
   * lost, since then there is nobody to tell.
   */
  async execute(work: Work, farm: BlobStore, watch: ActionWatch): Promise<Finished | undefined> {
    const metadata = create(ExecutedActionMetadataSchema, {
      worker: this.#settings.name,
      workerStartTimestamp: timestampNow(),
    });
    const scratch = join(this.#machine.runDir, `${this.#count++}`);
    const clearing: Clearing = { steps: [] };
    try {
      const request = parseWork(work);
      return await this.#executeIn(scratch, { work, request, farm, watch, metadata, clearing });
    } catch (reason) {
      return watch.stop.aborted && watch.stop.reason === "lost"
        ? undefined
        : finishedWithoutProcess(work, reason, watch.stop.aborted);
    } finally {
      this.#clear(scratch, clearing);
    }
  }

  /** Resolves when nothing of executions that have ended is left. */
  async cleared(): Promise<void> {
    await Promise.all(this.#clearings);
  }

  async #executeIn(scratch: string, job: Job): Promise<Finished | undefined> {
    const { request, farm, watch, metadata, clearing } = job;
    const { sandbox, limiter, inputRoots } = this.#machine;
    const temp = join(scratch, "tmp");
    const home = join(scratch, "home");
    await mkdir(scratch);
    metadata.inputFetchStartTimestamp = timestampNow();
    const name = `${groupPrefix}${ownOwner()}~${scratch.split("/").slice(-2).join("~")}`;
    const [root, group] = await Promise.all([
      inputRoots.make(request.inputRoot, scratch, farm),
      limiter.open({ name, scratch, inNamespace: sandbox.ownPids }, request.limits),
      mkdir(temp, { mode: 0o777 }),
      mkdir(home),
    ]);
    clearing.steps.push(
      () => root.unmount(),
      () => group.close(),
    );
    await prepareOutputs(root.seen, request.command);
    metadata.inputFetchCompletedTimestamp = timestampNow();
    if (watch.stop.aborted) throw new Fault("cancelled", "it was stopped before it began");

    const places = sandbox.placesOf({ root: root.path, temp, home });
    const environment = environmentOf(request.command, { ...places, path: this.#settings.path });
    const commandLine = sandbox.commandLine({
      arguments: request.command.arguments,
      environment,
      root: root.path,
      workingDirectory: request.command.workingDirectory,
      temp,
      home,
      network: request.network,
    });
    const judge = request.rules === undefined ? undefined : new LogJudge(request.rules);
    const end = await runProcess(
      {
        argv: [...this.#machine.shell.enter, ...commandLine],
        group,
        inNamespace: sandbox.ownPids,
        searchPath: toolPath(this.#settings.path),
        scratch,
        logLimitBytes: this.#settings.logLimitBytes,
        timeoutMs: request.timeoutMs,
        killGraceMs: this.#settings.killGraceMs,
        stop: watch.stop,
        started: watch.started,
        hear: judge === undefined ? undefined : (bytes) => judge.hear(bytes),
      },
      this.#pipes,
    );
    clearing.steps.push(() => end.stderr.close());
    return end.stopped === "lost" ? undefined : this.#report(root, end, job, judge);
  }

  async #report(
    root: InputRoot,
    end: ProcessEnd,
    job: Job,
    judge: LogJudge | undefined,
  ): Promise<Finished> {
    const { work, request, farm, metadata, clearing } = job;
    metadata.executionStartTimestamp = timestampFromDate(end.startedAt);
    metadata.executionCompletedTimestamp = timestampFromDate(end.endedAt);
    metadata.outputUploadStartTimestamp = timestampNow();
    const result = create(ActionResultSchema, {
      exitCode: end.exitCode,
      executionMetadata: metadata,
    });

    const { collected, refused } = await collect(root, end, request);
    await uploading(async () => {
      const { patience } = this.#machine;
      await publishLogs(end, farm, patience, result);
      const format = request.command.outputDirectoryFormat;
      await publishOutputs(root.seen, collected, format, farm, patience, result);
    });
    clearing.steps.push(async () => {
      const { local } = this.#machine;
      for (const file of collected.files) await local.adopt(join(root.made, file.at), file);
    });
    metadata.outputUploadCompletedTimestamp = timestampNow();
    metadata.workerCompletedTimestamp = timestampNow();

    const { timeoutMs, limits } = request;
    const allowed = { timeoutMs, memoryBytes: limits.memoryBytes };
    const ended = judgeOutcome(end, allowed, collected.missing);
    const judged = await judge?.conclude({ ...ended, exitCode: end.exitCode });
    if (judged !== undefined) metadata.auxiliaryMetadata = [judged.findings];
    const verdict = judged ?? ended;
    const failedByOutputs = refused !== "" && verdict.outcome === Outcome.SUCCEEDED;
    return create(FinishedSchema, {
      ...(work.lease ? { lease: work.lease } : {}),
      outcome: failedByOutputs ? Outcome.FAILED : verdict.outcome,
      message: failedByOutputs ? refused : verdict.message,
      result,
      usage: usageMessage(end.usage),
    });
  }

  /** Takes down what an execution needed, while its result is already on its way. */
  #clear(scratch: string, clearing: Clearing): void {
    const clear = async () => {
      for (const step of clearing.steps) await step().catch(() => {});
      await removeTree(scratch).catch(() => {});
    };
    const clearingUp = clear().finally(() => this.#clearings.delete(clearingUp));
    this.#clearings.add(clearingUp);
  }
}

interface Job {
  readonly work: Work;
  readonly request: ActionRequest;
  readonly farm: BlobStore;
  readonly watch: ActionWatch;
  readonly metadata: ExecutedActionMetadata;
  readonly clearing: Clearing;
}

/** What is to be undone at the end, in this order. */
interface Clearing {
  readonly steps: (() => Promise<void>)[];
}

const nothing: CollectedOutputs = { outputs: [], files: [], missing: [] };

/** An output that may not be one is the action's own doing: none is taken, and it is said why. */
async function collect(
  root: InputRoot,
  end: ProcessEnd,
  { command }: ActionRequest,
): Promise<{ collected: CollectedOutputs; refused: string }> {
  if (end.stopped === "cancelled") return { collected: nothing, refused: "" };
  try {
    const paths = declaredOutputs(command);
    return {
      collected: await collectOutputs(root.seen, command.workingDirectory, paths),
      refused: "",
    };
  } catch (reason) {
    if (!(reason instanceof Fault) || reason.code !== "invalid_argument") throw reason;
    return { collected: nothing, refused: reason.message };
  }
}

/** Whatever the farm says of an upload, it is not the action's fault. */
async function uploading(upload: () => Promise<void>): Promise<void> {
  try {
    await upload();
  } catch (reason) {
    throw new Fault("unavailable", `the outputs cannot be uploaded: ${messageOf(reason)}`, {
      cause: reason,
    });
  }
}
