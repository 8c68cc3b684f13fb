import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { openGit } from "#git/run-git.ts";
import type { JobDefinition } from "#graphs/definitions/job-definition.ts";
import { needsOf } from "#graphs/definitions/needs-of.ts";
import type { WorkerConfig } from "#worker/config.ts";
import { checkoutBlobs } from "./checkout-blobs.ts";
import { FileDigests } from "./file-digests.ts";
import { jobOrder, type NeedSource, refuseFarmJobs } from "./job-order.ts";
import { type LocalEnd, LocalExecutor } from "./local-executor.ts";
import { LocalInputs, type NeededOutputs } from "./local-inputs.ts";
import {
  contextOfCheckout,
  type GivenValues,
  jobNamed,
  planWorkingJobs,
  readWorkingDefinitions,
  type WorkingJobs,
} from "./working-definitions.ts";
import { readWorkingTree } from "./working-tree.ts";

/** What may happen to a job of a local run. */
export type JobEnd =
  | ({ readonly kind: "ran" } & LocalEnd)
  /** A job of the kind `join`, which runs nothing. */
  | { readonly kind: "nothing-to-run" }
  /** A job that it needs did not end as it must. */
  | { readonly kind: "skipped"; readonly because: string };

export interface RunObserver {
  /** Called for each job whose outputs are taken from the checkout, before anything runs. */
  readonly taken: (job: string, outputs: readonly string[]) => void;
  readonly started: (job: string) => void;
  readonly printed: (job: string, bytes: Uint8Array) => void;
  readonly ended: (job: string, end: JobEnd) => void;
}

export interface LocalRunRequest {
  /** The top of the checkout. */
  readonly root: string;
  readonly jobs: readonly string[];
  readonly given: GivenValues;
  /** Whether jobs that are needed run, too, although their outputs are in the checkout. */
  readonly withNeeds: boolean;
  /** How many jobs run at a time. */
  readonly parallel: number;
  readonly config: WorkerConfig;
  readonly signal: AbortSignal;
}

/** A checkout with its definitions read: what every local run begins with. */
export interface OpenCheckout {
  readonly root: string;
  readonly working: WorkingJobs;
  readonly inputs: (store: LocalInputStore) => LocalInputs;
  readonly files: Awaited<ReturnType<typeof readWorkingTree>>;
  /** Keeps what was learnt of files for the next run. */
  close(): Promise<void>;
}
type LocalInputStore = ReturnType<typeof checkoutBlobs>;

/** Reads the definitions and lists the files of a checkout. Throws `DefinitionProblems`. */
export async function openCheckout(
  root: string,
  given: GivenValues,
  dataDir: string,
): Promise<OpenCheckout> {
  const place = join(dataDir, "local-run");
  const git = await openGit(place);
  try {
    const definitions = await readWorkingDefinitions(root);
    const context = await contextOfCheckout(git, root);
    const working = await planWorkingJobs(definitions, given, context);
    const files = await readWorkingTree(git, root);
    const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
    const digests = await FileDigests.open(join(place, `digests-${name}.json`));
    return {
      root,
      working,
      files,
      inputs: (store) => new LocalInputs({ root, files, digests, store }),
      close: () => digests.save(),
    };
  } finally {
    await git.stop();
  }
}

/** Where the outputs of the jobs that others need come from, when those jobs need not run. */
export function sourcesIn(
  { root, working }: OpenCheckout,
  withNeeds: boolean,
): (name: string) => NeedSource {
  return (name) => {
    if (withNeeds) return "run";
    const outputs = jobNamed(working, name).outputs ?? [];
    const isThere = (path: string) =>
      lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
    return outputs.every(isThere) ? "checkout" : "run";
  };
}

/**
 * Runs jobs of a checkout on this machine, each with the inputs that it declares and nothing else, after the jobs that
 * it needs. Answers how each ended, in the order in which they ended.
 */
export async function runJobs(
  request: LocalRunRequest,
  observer: RunObserver,
): Promise<ReadonlyMap<string, JobEnd>> {
  const { root, given, config, parallel, signal } = request;
  const checkout = await openCheckout(root, given, config.dataDir);
  const definitionOf = (name: string) => jobNamed(checkout.working, name);
  const sourceOf = sourcesIn(checkout, request.withNeeds);
  const order = jobOrder(request.jobs, definitionOf, sourceOf);
  for (const name of order) refuseFarmJobs(name, definitionOf(name));
  for (const name of takenFromCheckout(order, definitionOf))
    observer.taken(name, definitionOf(name).outputs ?? []);

  const executor = await LocalExecutor.open({ ...config, slots: parallel });
  const ends = new Map<string, JobEnd>();
  try {
    const store = checkoutBlobs(await executor.openResults());
    const inputs = checkout.inputs(store);
    const outputsOf = (name: string): NeededOutputs => {
      const end = ends.get(name);
      if (end?.kind === "ran") return { kind: "made", result: end.result };
      if (end !== undefined) return { kind: "none" };
      const { outputs = [] } = definitionOf(name);
      return outputs.length === 0 ? { kind: "none" } : { kind: "in-checkout", outputs };
    };
    const runOne = async (name: string): Promise<JobEnd> => {
      const definition = definitionOf(name);
      const because = whySkipped(definition, ends);
      if (because !== undefined) return { kind: "skipped", because };
      if (definition.kind === "join") return { kind: "nothing-to-run" };
      const inputRoot = await inputs.rootOf(definition, outputsOf);
      observer.started(name);
      const print = (bytes: Uint8Array) => observer.printed(name, bytes);
      return {
        kind: "ran",
        ...(await executor.run({ definition, inputRoot, print, signal }, store)),
      };
    };
    await inOrder(order, parallel, definitionOf, async (name) => {
      const end = await runOne(name);
      ends.set(name, end);
      observer.ended(name, end);
    });
  } finally {
    await checkout.close();
    await executor.close();
  }
  return ends;
}

/** Jobs that are needed and do not run. */
function takenFromCheckout(
  order: readonly string[],
  definitionOf: (name: string) => JobDefinition,
): ReadonlySet<string> {
  const needed = order.flatMap((name) => Object.keys(needsOf(definitionOf(name))));
  return new Set(needed.filter((name) => !order.includes(name)));
}

/** Runs each job once those that it needs are over, at most `parallel` at a time. Throws the first failure. */
async function inOrder(
  order: readonly string[],
  parallel: number,
  definitionOf: (name: string) => JobDefinition,
  run: (name: string) => Promise<void>,
): Promise<void> {
  const waiting = new Set(order);
  const over = new Set<string>();
  const underWay = new Map<string, Promise<void>>();
  const isReady = (name: string) =>
    Object.keys(needsOf(definitionOf(name))).every((on) => over.has(on) || !order.includes(on));
  try {
    while (waiting.size + underWay.size > 0) {
      for (const name of [...waiting].filter(isReady)) {
        if (underWay.size >= parallel) break;
        waiting.delete(name);
        const running = run(name).then(() => {
          over.add(name);
          underWay.delete(name);
        });
        underWay.set(name, running);
      }
      if (underWay.size === 0) throw new Fault("internal", "jobs wait for each other");
      await Promise.race(underWay.values());
    }
  } finally {
    await Promise.allSettled(underWay.values());
  }
}

/** Why a job cannot run after what it needs has ended; undefined where it can. */
function whySkipped(
  definition: JobDefinition,
  ends: ReadonlyMap<string, JobEnd>,
): string | undefined {
  for (const [on, need] of Object.entries(needsOf(definition))) {
    const end = ends.get(on);
    const wanted = need.on ?? "success";
    if (end === undefined || wanted === "end" || need.optional === true) continue;
    if (end.kind === "skipped") return `job "${on}", which it needs, was skipped`;
    const succeeded = end.kind === "nothing-to-run" || end.succeeded;
    if (wanted === "success" && !succeeded) return `job "${on}", which it needs, did not succeed`;
    if (wanted !== "success" && succeeded)
      return `job "${on}" succeeded, and it runs on "${wanted}"`;
  }
  return undefined;
}
