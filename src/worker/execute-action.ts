import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { Fault } from "#core/fault.ts";
import { untilAborted } from "#core/until-aborted.ts";
import { ExecutedActionMetadataSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Finished, Outcome, type Work } from "#proto/grange/worker/v1/worker_pb.ts";
import { activeTraceparent } from "#tracing/active-span.ts";
import { ActionImages } from "./action-images.ts";
import { type ActionRequest, environmentOf, parseWork } from "./action-request.ts";
import { countingFetches } from "./counting-fetches.ts";
import { isDiskFull } from "./disk-room.ts";
import { type Clearing, ExecutionCleanups } from "./execution-cleanups.ts";
import { ExecutionPlaces } from "./execution-places.ts";
import { FetchAhead } from "./fetch-ahead.ts";
import { finishedWithoutProcess } from "./finished-message.ts";
import { LogJudge } from "./judge/log-judge.ts";
import { diskQuotaFor } from "./limits/disk-use.ts";
import { limitsWithin, slotOf } from "./limits/slot-share.ts";
import type { CapturedLog } from "./logs/captured-log.ts";
import { FifoPool } from "./logs/fifo-pool.ts";
import type { Machine } from "./machine.ts";
import { prepareOutputs } from "./outputs/prepare-outputs.ts";
import { PersistentExecutions, type Served } from "./persistent/persistent-executions.ts";
import { type ReportParts, type RunJob, reportExecution } from "./report-execution.ts";
import { runProcess } from "./run-process.ts";
import { secretsPlace } from "./sandbox/sandbox.ts";
import { SecretForms } from "./secrets/log-mask.ts";
import { openSecretFolder } from "./secrets/secret-folder.ts";
import { ProcessSpawner } from "./spawned-process.ts";
import { toolPath } from "./tool-path.ts";
import { variablesOfToken } from "./variables-of-token.ts";

interface ExecutorSettings {
  readonly name: string;
  readonly path: string;
  readonly slots: number;
  readonly logLimitBytes: number;
  readonly killGraceMs: number;
  /** The CPUs of the slot; all of the machine when absent. */
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly diskBytes?: number | undefined;
  readonly outputLimitBytes: number;
  readonly allOutputsLimitBytes: number;
  /** The processes for several actions that are kept at most. */
  readonly persistentWorkers: number;
  readonly measuringLock: string;
  /** Writes a line into the log of the worker. */
  readonly warn?: ((facts: object, text: string) => void) | undefined;
  /** Returns the address of the farm as its jobs reach it; absent without a farm. */
  readonly farmAddress?: (() => string) | undefined;
}

/** The agent's decisions while an action runs. */
interface ActionWatch {
  /** Aborted with a StopReason. */
  readonly stop: AbortSignal;
  /** Called when the process runs and its log starts to grow. The callee must close the log. */
  readonly started: (stdout: CapturedLog) => void;
  /** Settles when the farm has the result, which is sent before all clean-up; absent if there is none to wait for. */
  readonly reported?: Promise<unknown>;
  /** Settles when the result is on its way to the farm; absent if it is not sent. */
  readonly sent?: Promise<unknown>;
}

/** The outcome of an execution on this machine. */
export type Executed =
  | { readonly kind: "finished"; readonly finished: Finished }
  /** Its lease was lost, so there is nothing to report. */
  | { readonly kind: "lost" }
  /** The disk of this machine is full. The action is not the cause: another worker may run it, or this one later. */
  | { readonly kind: "no-room"; readonly reason: unknown };

/** Executes actions on this machine, any number at a time. */
export class ActionExecutor {
  readonly #machine: Machine;
  readonly #settings: ExecutorSettings;
  readonly #pipes: FifoPool;
  readonly #spawner: ProcessSpawner;
  readonly #places: ExecutionPlaces;
  readonly #clearings = new ExecutionCleanups();
  readonly #images: ActionImages;
  readonly #persistent: PersistentExecutions;
  readonly #reportParts: ReportParts;
  /** Prefetches for executions that are not claimed yet; pauses for claimed ones. */
  readonly ahead: FetchAhead;

  constructor(machine: Machine, settings: ExecutorSettings) {
    this.#machine = machine;
    this.ahead = new FetchAhead(machine.inputRoots, machine.local);
    this.#settings = settings;
    const { retryWindow, local } = machine;
    this.#reportParts = { retryWindow, local, limits: settings };
    this.#pipes = new FifoPool(machine.shell, machine.runDir);
    const { path, slots } = settings;
    this.#images = new ActionImages(machine, path);
    this.#spawner = new ProcessSpawner(machine, this.#pipes, toolPath(path));
    this.#places = new ExecutionPlaces(machine, this.#spawner, slots);
    this.#persistent = new PersistentExecutions({
      machine,
      places: this.#places,
      images: this.#images,
      spawner: this.#spawner,
      pipes: this.#pipes,
      settings: { ...settings, most: settings.persistentWorkers },
      whileFetching: (work) => this.ahead.during(work),
    });
  }

  /**
   * Executes one action from fetching its inputs to uploading its outputs.
   *
   * Never throws: an error is an outcome, too.
   */
  async execute(work: Work, farm: BlobStore, watch: ActionWatch): Promise<Executed> {
    const metadata = create(ExecutedActionMetadataSchema, {
      worker: this.#settings.name,
      workerStartTimestamp: timestampNow(),
    });
    const clearing: Clearing = { steps: [], place: undefined };
    try {
      const request = parseWork(work);
      const limits = limitsWithin(request.limits, slotOf(this.#settings));
      const job = { work, request, limits, farm, watch, metadata, clearing };
      const served = await this.#executePersistently(job);
      const finished = served === "ordinary" ? await this.#executeIn(job) : served;
      if (served === "ordinary" && finished?.outcome === Outcome.SUCCEEDED)
        this.#persistent.succeededAlone(job);
      return finished === undefined ? { kind: "lost" } : { kind: "finished", finished };
    } catch (reason) {
      const { aborted } = watch.stop;
      if (aborted && watch.stop.reason === "lost") return { kind: "lost" };
      if (!aborted && isDiskFull(reason)) return { kind: "no-room", reason };
      return { kind: "finished", finished: finishedWithoutProcess(work, reason, aborted) };
    } finally {
      this.#clearings.add(clearing, watch.reported, watch.sent);
    }
  }

  /** Resolves when all files and groups of ended and prepared executions are removed. */
  async cleared(): Promise<void> {
    await this.#persistent.close();
    await Promise.all([this.#clearings.over(), this.#places.stop()]);
    await this.#pipes.close();
  }

  /** Returns `ordinary` when the action must run with processes of its own. Undefined: its lease was lost. */
  async #executePersistently(job: Job): Promise<Finished | undefined | "ordinary"> {
    if (job.request.persistent === undefined) return "ordinary";
    const clearing: Clearing = { steps: [], place: undefined };
    let served: Served | undefined;
    try {
      served = await this.#persistent.execute(job, clearing);
    } finally {
      // Its files are needed until its outputs are stored.
      if (served === undefined) this.#clearings.add(clearing, undefined);
      else {
        job.clearing.place = clearing.place;
        job.clearing.steps.push(...clearing.steps);
      }
    }
    if (served === undefined) return "ordinary";
    if (served.end.stopped === "lost") return undefined;
    const nothingBeside = { judge: undefined, services: undefined, forms: undefined };
    return reportExecution({ ...served, ...nothingBeside }, job, this.#reportParts);
  }

  async #executeIn(job: Job): Promise<Finished | undefined> {
    const { request, watch, metadata, clearing } = job;
    const { farm, fetched } = countingFetches(job.farm);
    const { sandbox, inputRoots } = this.#machine;
    const forms = secretFormsOf(request);
    const hasSecrets = request.secrets.length > 0;
    // A prepared place has no mounts for these files.
    const isPlain = !request.network && !hasSecrets && request.services.length === 0;
    const needs = { request, stop: watch.stop, clearing };
    const image = await this.#images.imageOf(needs);
    metadata.inputFetchStartTimestamp = timestampNow();
    const taking = this.#places.take(isPlain, image);
    const taken = taking.then(({ scratch }) => scratch);
    // Beside it: the sandbox of the place may not be complete yet.
    const making = this.ahead.during(() => inputRoots.make(request.inputRoot, taken, farm));
    // Awaited below; until then a rejection must not count as unhandled.
    making.catch(() => {});
    clearing.steps.push(async () => (await making).unmount());
    const place = await taking;
    clearing.place = place;
    const { scratch, temp, home, group, waiting } = place;
    const services = await this.#images.servicesOf(needs, scratch);
    const { limits } = job;
    const cpus = limits.cpus === undefined ? undefined : this.#machine.cpus.take(limits.cpus);
    clearing.steps.push(async () => cpus?.giveBack());
    const limited = group.limit(cpus === undefined ? limits : { ...limits, cpuSet: cpus.cpus });
    // Awaited below; until then a rejection must not count as unhandled.
    limited.catch(() => {});
    const root = await untilAborted(making, watch.stop);
    await limited;
    await prepareOutputs(root.seen, request.command);
    metadata.inputFetchCompletedTimestamp = timestampNow();
    if (watch.stop.aborted) throw new Fault("cancelled", "it was stopped before it started");

    const secrets = hasSecrets
      ? await openSecretFolder(this.#machine, scratch, request.secrets)
      : undefined;
    if (secrets !== undefined) clearing.steps.push(() => secrets.close());
    const places = sandbox.placesOf({ root: root.path, temp, home });
    const environment = environmentOf(
      request.command,
      { ...places, path: this.#settings.path },
      image?.environment,
    );
    if (secrets !== undefined) environment.set("GRANGE_SECRETS", secretsPlace);
    for (const [name, value] of variablesOfToken(
      request.token,
      this.#settings.farmAddress?.(),
      activeTraceparent(),
    )) {
      environment.set(name, value);
    }
    const { workingDirectory } = request.command;
    const argv = [...group.before, ...request.command.arguments];
    const spawn = () => {
      const { network } = request;
      const command = { arguments: argv, environment, workingDirectory, temp, home, network };
      const inSandbox = sandbox.commandLine({
        ...command,
        root: root.path,
        secrets: secrets?.path,
        image,
        inNamespace: services !== undefined,
        binds: services?.binds,
      });
      const commandLine = services?.commandLine(inSandbox) ?? inSandbox;
      return this.#spawner.spawn(commandLine, group, { stop: watch.stop });
    };
    const directory = join(places.root, workingDirectory);
    // Before the process starts: what it has written must not count as present before.
    const diskQuota = await diskQuotaFor(
      [root.made, temp, home, ...(services === undefined ? [] : [services.directory])],
      limits.diskBytes,
    );
    waiting?.assertReady();
    const judge = request.rules === undefined ? undefined : new LogJudge(request.rules);
    // The last check: from here to the start of the process, only its pipes are awaited.
    if (watch.stop.aborted) throw new Fault("cancelled", "it was stopped before it started");
    const end = await runProcess({
      process: waiting?.process ?? (await spawn()),
      begin: () => waiting?.go({ arguments: argv, environment, directory }),
      group,
      inNamespace: sandbox.ownPids,
      scratch,
      logLimitBytes: this.#settings.logLimitBytes,
      timeoutMs: request.timeoutMs,
      diskQuota,
      killGraceMs: this.#settings.killGraceMs,
      stop: watch.stop,
      started: watch.started,
      hear: judge === undefined ? undefined : (bytes) => judge.hear(bytes),
      secrets: forms,
    });
    cpus?.giveBack();
    clearing.steps.push(() => end.stderr.close());
    if (end.stopped === "lost") return undefined;
    const finished = await reportExecution(
      { root, end, judge, fetched, image, services, forms },
      job,
      this.#reportParts,
    );
    // The action also chooses names of files and targets of links.
    if (forms !== undefined) finished.message = forms.hide(finished.message);
    return finished;
  }
}

interface Job extends RunJob {
  readonly watch: ActionWatch;
}

function secretFormsOf({ secrets, token }: ActionRequest): SecretForms | undefined {
  const values = [
    ...secrets.map(({ value }) => value),
    ...(token === undefined ? [] : [Buffer.from(token.value)]),
  ];
  return values.length === 0 ? undefined : new SecretForms(values);
}
