import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { needsOf } from "#definitions/needs-of.ts";
import { openGit } from "#git/run-git.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { WorkerConfig } from "#worker/config.ts";
import { type CheckoutBlobs, checkoutBlobs } from "./checkout-blobs.ts";
import { FileDigests } from "./file-digests.ts";
import { jobOrder, refuseFarmJobs } from "./job-order.ts";
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
import { readWorkingTree, type WorkingEntry } from "./working-tree.ts";

export interface CheckoutSettings {
  /** The top directory of the checkout. */
  readonly root: string;
  readonly given: GivenValues;
  readonly config: WorkerConfig;
  /** Whether needed jobs run, too, although their outputs are in the checkout. */
  readonly withNeeds: boolean;
}

interface Execution {
  readonly print: (bytes: Uint8Array) => void;
  readonly signal: AbortSignal;
  /** Whether the job gets all files of the checkout, regardless of `inputs`. */
  readonly every?: boolean;
}

/** The jobs of a checkout in its present state, and this machine ready to execute them. */
export class CheckoutJobs {
  readonly files: readonly WorkingEntry[];
  readonly #settings: CheckoutSettings;
  readonly #working: WorkingJobs;
  readonly #digests: FileDigests;
  readonly #executor: LocalExecutor;
  readonly #store: CheckoutBlobs;
  readonly #inputs: LocalInputs;
  /** The results of executed jobs; undefined for a job without a result. */
  readonly #results = new Map<string, ActionResult | undefined>();

  private constructor(
    settings: CheckoutSettings,
    read: Awaited<ReturnType<typeof readCheckout>>,
    executor: LocalExecutor,
    store: CheckoutBlobs,
  ) {
    const { working, files, digests } = read;
    this.#settings = settings;
    this.#working = working;
    this.files = files;
    this.#digests = digests;
    this.#executor = executor;
    this.#store = store;
    this.#inputs = new LocalInputs({ root: settings.root, files, digests, store });
  }

  /**
   * Reads the definitions and lists the files of a checkout. Throws `DefinitionProblems`, and errors of `check`, which
   * runs on the definitions before the machine is prepared.
   */
  static async open(
    settings: CheckoutSettings,
    check: (working: WorkingJobs) => void,
    rootsOf?: Parameters<typeof LocalExecutor.open>[1],
  ): Promise<CheckoutJobs> {
    const read = await readCheckout(settings);
    check(read.working);
    const executor = await LocalExecutor.open(settings.config, rootsOf);
    try {
      const store = checkoutBlobs(await executor.openResults());
      return new CheckoutJobs(settings, read, executor, store);
    } catch (reason) {
      await executor.close();
      throw reason;
    }
  }

  definitionOf(name: string): JobDefinition {
    return jobNamed(this.#working, name);
  }

  /**
   * Returns the jobs to run for the requested ones, each after the jobs that it needs. Throws for jobs that only a farm
   * can run.
   */
  orderOf(asked: readonly string[]): readonly string[] {
    const definitionOf = (name: string) => this.definitionOf(name);
    const order = jobOrder(asked, definitionOf, (name) =>
      this.#settings.withNeeds || !this.#isInCheckout(name) ? "run" : "checkout",
    );
    for (const name of order) refuseFarmJobs(name, this.definitionOf(name));
    return order;
  }

  /** Returns the jobs that these need and that do not run. */
  takenFromCheckout(order: readonly string[]): readonly string[] {
    const needed = order.flatMap((name) => Object.keys(needsOf(this.definitionOf(name))));
    return [...new Set(needed)].filter((name) => !order.includes(name));
  }

  /** Executes a job and remembers its outputs for jobs that need them. */
  async execute(name: string, execution: Execution): Promise<LocalEnd> {
    const end = await this.executeAs(this.definitionOf(name), execution);
    this.#results.set(name, end.result);
    return end;
  }

  /** Executes a definition, which may be modified. Other jobs do not use its outputs. */
  async executeAs(definition: JobDefinition, execution: Execution): Promise<LocalEnd> {
    const { every = false, print, signal } = execution;
    const inputRoot = await this.#inputs.rootOf(definition, (job) => this.#outputsOf(job), {
      every,
    });
    return this.#executor.run({ definition, inputRoot, print, signal }, this.#store);
  }

  /** Stores the computed digests for the next start, and removes everything else. */
  async close(): Promise<void> {
    await this.#digests.save();
    await this.#executor.close();
  }

  #isInCheckout(name: string): boolean {
    const { root } = this.#settings;
    return (this.definitionOf(name).outputs ?? []).every(
      (path) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined,
    );
  }

  #outputsOf(name: string): NeededOutputs {
    if (this.#results.has(name)) return { kind: "made", result: this.#results.get(name) };
    const { outputs = [] } = this.definitionOf(name);
    return outputs.length > 0 && this.#isInCheckout(name)
      ? { kind: "in-checkout", outputs }
      : { kind: "none" };
  }
}

async function readCheckout({ root, given, config }: CheckoutSettings) {
  const place = join(config.dataDir, "local-run");
  const git = await openGit(place);
  try {
    const definitions = await readWorkingDefinitions(root);
    const context = await contextOfCheckout(git, root);
    const working = await planWorkingJobs(definitions, given, context);
    const files = await readWorkingTree(git, root);
    const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
    const digests = await FileDigests.open(join(place, `digests-${name}.json`));
    return { working, files, digests };
  } finally {
    await git.stop();
  }
}
