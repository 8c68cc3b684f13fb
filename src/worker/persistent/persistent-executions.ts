import { join } from "node:path";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { untilAborted } from "#core/until-aborted.ts";
import { holderOf } from "#machine/holder-lock.ts";
import type { ExecutedActionMetadata } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Work } from "#proto/grange/worker/v1/worker_pb.ts";
import type { ActionImages } from "../action-images.ts";
import { type ActionRequest, environmentOf } from "../action-request.ts";
import { countingFetches, type Fetched } from "../counting-fetches.ts";
import type { Clearing } from "../execution-cleanups.ts";
import type { ExecutionPlaces } from "../execution-places.ts";
import type { ImageToRun } from "../image/oci/open-images.ts";
import type { InputDirectory } from "../input-root/input-directory.ts";
import type { InputRoot } from "../input-root/input-root.ts";
import { diskQuotaFor, diskUse, exceedsQuota } from "../limits/disk-use.ts";
import type { Limits, TreeUsage } from "../limits/limits.ts";
import type { CapturedLog } from "../logs/captured-log.ts";
import type { FifoPool } from "../logs/fifo-pool.ts";
import type { Machine } from "../machine.ts";
import { prepareOutputs } from "../outputs/prepare-outputs.ts";
import type { ProcessEnd, StopReason } from "../run-process.ts";
import type { ProcessSpawner } from "../spawned-process.ts";
import type { KeptProcess } from "./kept-process.ts";
import { keyOf, mayBePersistent, type PersistentChoice } from "./may-be-persistent.ts";
import { ProcessPool } from "./process-pool.ts";
import { argumentsOfRequest } from "./split-command.ts";
import { fileAt, hashOfTools, inputsOfRequest } from "./tool-inputs.ts";
import { UnsuitedTools } from "./unsuited-tools.ts";
import { encodeRequest } from "./worker-protocol.ts";
import { writtenLog } from "./written-log.ts";

/** A process that leaves more in its directories for temporary files ends after the action. In bytes. */
const mostLeftBytes = 256 * 1024 * 1024;

/** A longer file of arguments is not read into memory. In bytes. */
const mostFlagfileBytes = 16 * 1024 * 1024;

/** More entries in the root of an input tree would need too many mounts. */
const mostRootEntries = 64;

interface Parts {
  readonly machine: Machine;
  readonly places: ExecutionPlaces;
  readonly images: ActionImages;
  readonly spawner: ProcessSpawner;
  readonly pipes: FifoPool;
  readonly settings: {
    /** The processes that are kept at most. */
    readonly most: number;
    /** Held by a collector that measures on this machine. */
    readonly measuringLock: string;
    readonly path: string;
    readonly logLimitBytes: number;
    /** Tells people why a process was of no use. */
    readonly warn?: ((facts: object, text: string) => void) | undefined;
  };
  /** Makes an input tree while nothing is fetched ahead. */
  readonly whileFetching: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

interface PersistentJob {
  readonly work: Work;
  readonly request: ActionRequest;
  readonly limits: Limits;
  readonly farm: BlobStore;
  readonly watch: {
    readonly stop: AbortSignal;
    readonly started: (stdout: CapturedLog) => void;
  };
  readonly metadata: ExecutedActionMetadata;
}

/** An action that a persistent worker process has served, or that was stopped meanwhile. */
export interface Served {
  readonly root: InputRoot;
  readonly end: ProcessEnd;
  readonly fetched: Fetched;
  readonly image: ImageToRun | undefined;
  /** From 1, counted for each process. */
  readonly persistentRequest: number;
}

/** Executes actions by processes that serve several of them, as `docs/decisions/0185-persistent-workers.md` describes. */
export class PersistentExecutions {
  readonly #parts: Parts;
  readonly #pool: ProcessPool;
  readonly #unsuited = new UnsuitedTools();
  /** The jobs for which a process has failed. */
  readonly #failed = new WeakSet<PersistentJob>();

  constructor(parts: Parts) {
    this.#parts = parts;
    const { most, measuringLock } = parts.settings;
    this.#pool = new ProcessPool(most, () => holderOf(measuringLock) !== undefined);
  }

  /** Ends all processes. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Call it when a job has succeeded in the ordinary way. */
  succeededAlone(job: PersistentJob): void {
    if (this.#failed.has(job)) this.#unsuited.failed(toolOf(job));
  }

  /**
   * Executes an action, up to the outputs in its tree. Returns undefined when it must run in the ordinary way: because
   * it may not be served, because its process failed or ended with another exit code than 0, or because processes of
   * its tool failed too often.
   *
   * Throws like the ordinary way when its inputs are missing or when it is stopped early.
   */
  async execute(job: PersistentJob, clearing: Clearing): Promise<Served | undefined> {
    const { machine, places, settings } = this.#parts;
    const { request, work } = job;
    // Cheap: most actions ask for no such process.
    if (settings.most === 0 || request.persistent === undefined || work.domain === "")
      return undefined;
    const choice = mayBePersistent(request, {
      most: settings.most,
      seesLaterMounts: machine.inputRoots.kind === "overlay" && (await places.opened),
      limiter: machine.limiter.kind,
    });
    if (choice.kind === "ordinary" || this.#unsuited.isUnsuited(toolOf(job))) return undefined;
    const prepared = await this.#prepare(job, choice, clearing);
    if (prepared === undefined) return undefined;
    const kept = await this.#pool.take(prepared.key, request.persistent.protocol);
    if (kept === undefined) return undefined;
    try {
      const served = await this.#serve(kept, prepared, job, clearing);
      if (served === undefined) this.#failed.add(job);
      else if (served.end.stopped === undefined) this.#unsuited.served(toolOf(job));
      return served;
    } catch (reason) {
      await this.#pool.end(kept);
      if (job.watch.stop.aborted) throw reason;
      this.#failed.add(job);
      const { lastWords } = kept;
      settings.warn?.(
        { action: work.lease?.executionId, reason: messageOf(reason), lastWords },
        "a persistent worker process failed; its action runs in the ordinary way",
      );
      return undefined;
    }
  }

  async #prepare(
    job: PersistentJob,
    choice: Persistent,
    clearing: Clearing,
  ): Promise<Prepared | undefined> {
    const { machine, places, images, settings, whileFetching } = this.#parts;
    const { request, work, watch, metadata } = job;
    const { farm, fetched } = countingFetches(job.farm);
    // Each action opens it, also for a process that runs: a registry may give it to some actions only.
    const image = await images.imageOf({ request, stop: watch.stop, clearing });
    metadata.inputFetchStartTimestamp = timestampNow();
    const tree = await machine.layers.treeOf(request.inputRoot, farm);
    const tools = hashOfTools(tree);
    // Without them, nothing would tell that the client's tool has changed.
    if (tools === undefined || rootEntries(tree) > mostRootEntries) return undefined;
    const argv = await argumentsOfRequest(choice.flag, async (path) => {
      const digest = fileAt(tree, path);
      if (digest === undefined || digest.sizeBytes > mostFlagfileBytes) return undefined;
      return Buffer.from(await machine.local.bytes(digest, farm)).toString();
    });
    if (argv === undefined) return undefined;
    const taken = places.take(false);
    const making = whileFetching(() =>
      machine.inputRoots.make(
        request.inputRoot,
        taken.then(({ scratch }) => scratch),
        farm,
      ),
    );
    // Awaited below; until then a rejection must not count as unhandled.
    making.catch(() => {});
    clearing.steps.push(async () => (await making).unmount());
    const place = await taken;
    clearing.place = place;
    const root = await untilAborted(making, watch.stop);
    await prepareOutputs(root.seen, request.command);
    metadata.inputFetchCompletedTimestamp = timestampNow();
    const inSandbox = machine.sandbox.placesOf({ root: "", temp: "", home: "" });
    const inherited = { ...inSandbox, path: settings.path };
    const environment = environmentOf(request.command, inherited, image?.environment);
    const key = keyOf({
      project: work.project,
      domain: work.domain,
      clientKey: request.persistent?.key ?? "",
      protocol: request.persistent?.protocol ?? "",
      startup: choice.startup,
      environment,
      limits: job.limits,
      sandbox: machine.sandbox.kind,
      image: image?.root,
      shellGeneration: machine.shell.generation,
      tools,
    });
    const bytes = encodeRequest(request.persistent?.protocol ?? "proto", {
      arguments: argv,
      inputs: inputsOfRequest(tree),
    });
    return { key, root, bytes, environment, startup: choice.startup, image, fetched, place };
  }

  async #serve(
    kept: KeptProcess,
    prepared: Prepared,
    job: PersistentJob,
    clearing: Clearing,
  ): Promise<Served | undefined> {
    const { machine, places, pipes, settings } = this.#parts;
    const { limits, request, watch } = job;
    const { root, fetched, image, place } = prepared;
    const own = await kept.open(machine.shell, async () => {
      await places.share();
      return places.take(false);
    });
    const cpus = limits.cpus === undefined ? undefined : machine.cpus.take(limits.cpus);
    clearing.steps.push(async () => cpus?.giveBack());
    await own.group.limit(cpus === undefined ? limits : { ...limits, cpuSet: cpus.cpus });
    await kept.attach(root);
    const quota = await diskQuotaFor([root.made, own.temp, own.home], limits.diskBytes);
    watch.stop.throwIfAborted();

    const stdout = await writtenLog(
      join(place.scratch, "stdout"),
      pipes,
      "",
      settings.logLimitBytes,
    );
    watch.started(stdout);
    const before = await own.group.usage();
    const startedAt = new Date();
    const ended = new AbortController();
    const stopping = stopReason(watch.stop, request.timeoutMs, quota, ended.signal);
    let end: { readonly exitCode: number; readonly output: string; readonly stopped?: StopReason };
    try {
      if (!kept.hasBegun) {
        const release = image?.retain();
        if (release !== undefined) kept.whenEnded(release);
        kept.begin(await this.#spawn(own, prepared));
      }
      const responding = kept.request(prepared.bytes);
      // When it is stopped, its process ends.
      responding.catch(() => {});
      const stopped = await Promise.race([stopping, responding.then(() => undefined)]);
      if (stopped === undefined) end = await responding;
      else end = { exitCode: 137, output: kept.lastWords, stopped };
    } finally {
      ended.abort("ended");
    }
    const endedAt = new Date();
    const usage = difference(await own.group.usage(), before);
    cpus?.giveBack();
    const { requests } = kept;
    if (end.stopped === undefined) await this.#leave(kept, root, own);
    else await this.#pool.end(kept);
    // A failure must not be due to earlier actions of the process.
    if (end.stopped === undefined && end.exitCode !== 0) return undefined;
    const { output } = end;
    const at = join(place.scratch, "stderr");
    const stderr = await writtenLog(at, pipes, output, settings.logLimitBytes);
    clearing.steps.push(() => stderr.close());
    const { exitCode, stopped } = end;
    const lack = undefined;
    return {
      root,
      fetched,
      image,
      persistentRequest: requests,
      end: { exitCode, stopped, lack, usage, stdout, stderr, startedAt, endedAt },
    };
  }

  async #spawn(own: Prepared["place"], { startup, environment, image }: Prepared) {
    const { machine, spawner } = this.#parts;
    const commandLine = machine.sandbox.commandLine({
      arguments: [...own.group.before, ...startup],
      environment,
      root: join(own.scratch, "root"),
      workingDirectory: "",
      temp: own.temp,
      home: own.home,
      network: false,
      image,
    });
    return spawner.spawn(commandLine, own.group, { withStdin: true });
  }

  /** Hides the tree of an action from its process, and ends the process if it may not serve further ones. */
  async #leave(kept: KeptProcess, root: InputRoot, own: Prepared["place"]): Promise<void> {
    try {
      await kept.detach(root);
      const left = await diskUse([own.temp, own.home], mostLeftBytes);
      if (left > mostLeftBytes) await this.#pool.end(kept);
      else this.#pool.giveBack(kept);
    } catch (reason) {
      // The outputs are read next: nothing may change them then.
      await this.#pool.end(kept);
      this.#parts.settings.warn?.(
        { reason: messageOf(reason) },
        "a persistent worker process is ended: it still had files of its action open",
      );
    }
  }
}

/** A tool of one project and trust domain: the client's key is a digest of its files and command. */
function toolOf({ work, request }: PersistentJob): string {
  return JSON.stringify([work.project, work.domain, request.persistent?.key]);
}

type Persistent = Extract<PersistentChoice, { readonly kind: "persistent" }>;

/** An action whose input tree is ready. */
interface Prepared {
  readonly key: string;
  readonly root: InputRoot;
  readonly bytes: Buffer;
  readonly environment: ReadonlyMap<string, string>;
  readonly startup: readonly string[];
  readonly image: ImageToRun | undefined;
  readonly fetched: Fetched;
  readonly place: NonNullable<Clearing["place"]>;
}

function rootEntries({ files, symlinks, directories }: InputDirectory): number {
  return files.length + symlinks.length + directories.length;
}

/** Resolves with the reason to end the process of an action early; undefined when the action has ended before. */
async function stopReason(
  stop: AbortSignal,
  timeoutMs: number,
  quota: Awaited<ReturnType<typeof diskQuotaFor>>,
  ended: AbortSignal,
): Promise<StopReason | undefined> {
  const overQuota = new AbortController();
  if (quota !== undefined) {
    void exceedsQuota(quota, AbortSignal.any([stop, ended])).then((exceeds) => {
      if (exceeds) overQuota.abort("over_quota");
    });
  }
  const stops = AbortSignal.any([stop, overQuota.signal]);
  await rest(timeoutMs, AbortSignal.any([stops, ended]));
  if (stops.aborted) return stops.reason as StopReason;
  return ended.aborted ? undefined : "timed_out";
}

/** Returns what was used between two readings. The peak of memory is that of the whole life of the process. */
function difference(after: TreeUsage, before: TreeUsage): TreeUsage {
  return {
    userMs: Math.max(0, after.userMs - before.userMs),
    systemMs: Math.max(0, after.systemMs - before.systemMs),
    peakMemoryBytes: 0,
    pageReclaims: Math.max(0, after.pageReclaims - before.pageReclaims),
    pageFaults: Math.max(0, after.pageFaults - before.pageFaults),
    readBytes: Math.max(0, after.readBytes - before.readBytes),
    writtenBytes: Math.max(0, after.writtenBytes - before.writtenBytes),
    measuredBy: after.measuredBy,
  };
}
