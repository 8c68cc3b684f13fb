import { Fault } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { needsOf } from "#definitions/needs-of.ts";
import { CheckoutJobs, type CheckoutSettings } from "./checkout-jobs.ts";
import { refuseFarmJobs } from "./job-order.ts";
import type { LocalEnd } from "./local-executor.ts";
import { jobNamed } from "./working-definitions.ts";

/** The possible ends of a job of a local run. */
export type JobEnd =
  | ({ readonly kind: "ran" } & LocalEnd)
  /** A job of the kind `join`, which runs no commands. */
  | { readonly kind: "nothing-to-run" }
  /** A job that it needs did not end as required. */
  | { readonly kind: "skipped"; readonly because: string };

export interface RunObserver {
  /** Called for each job whose outputs are used from the checkout, before any job runs. */
  readonly taken: (job: string, outputs: readonly string[]) => void;
  readonly started: (job: string) => void;
  readonly printed: (job: string, bytes: Uint8Array) => void;
  readonly ended: (job: string, end: JobEnd) => void;
}

interface LocalRunRequest extends CheckoutSettings {
  readonly jobs: readonly string[];
  /** The maximum number of jobs that run at a time. */
  readonly parallel: number;
  readonly signal: AbortSignal;
}

/**
 * Runs jobs of a checkout on this machine, each with only its declared inputs, after the jobs that it needs. Returns
 * the results in the order in which the jobs ended.
 */
export async function runJobs(
  { jobs, parallel, signal, config, ...settings }: LocalRunRequest,
  observer: RunObserver,
): Promise<ReadonlyMap<string, JobEnd>> {
  const checkout = await CheckoutJobs.open(
    { ...settings, config: { ...config, slots: parallel } },
    (working) => {
      for (const name of jobs) refuseFarmJobs(name, jobNamed(working, name));
    },
  );
  try {
    const order = checkout.orderOf(jobs);
    for (const name of checkout.takenFromCheckout(order))
      observer.taken(name, checkout.definitionOf(name).outputs ?? []);
    return await runInOrder(checkout, order, { parallel, signal }, observer);
  } finally {
    await checkout.close();
  }
}

/** Runs the jobs of an order, each after the jobs that it needs. */
export async function runInOrder(
  checkout: CheckoutJobs,
  order: readonly string[],
  { parallel, signal }: { readonly parallel: number; readonly signal: AbortSignal },
  observer: RunObserver,
): Promise<ReadonlyMap<string, JobEnd>> {
  const definitionOf = (name: string) => checkout.definitionOf(name);
  const ends = new Map<string, JobEnd>();
  const runOne = async (name: string): Promise<JobEnd> => {
    const because = signal.aborted ? "the run was stopped" : whySkipped(definitionOf(name), ends);
    if (because !== undefined) return { kind: "skipped", because };
    if (definitionOf(name).kind === "join") return { kind: "nothing-to-run" };
    observer.started(name);
    const print = (bytes: Uint8Array) => observer.printed(name, bytes);
    return { kind: "ran", ...(await checkout.execute(name, { print, signal })) };
  };
  await inOrder(order, parallel, definitionOf, async (name) => {
    const end = await runOne(name);
    ends.set(name, end);
    observer.ended(name, end);
  });
  return ends;
}

/** Runs each job after the jobs that it needs, at most `parallel` at a time. Throws the first failure. */
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

/** Returns why a job cannot run after its needed jobs have ended; undefined if it can. */
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
