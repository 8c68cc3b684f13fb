import { z } from "zod";
import type { Digest } from "#core/digest.ts";
import type { Platform } from "#core/platform.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ChosenSize } from "./sizing/size-class-roles.ts";

export const ExecutionId = z.uuid().brand<"ExecutionId">();
export type ExecutionId = z.infer<typeof ExecutionId>;

/**
 * How an execution ended.
 *
 * `worker_lost` and `infrastructure_error` end it only when its attempts are used
 * up; until then it goes back to the queue.
 */
const outcomes = [
  "succeeded",
  "failed",
  "timed_out",
  "out_of_memory",
  "cancelled",
  "worker_lost",
  "infrastructure_error",
] as const;
export const Outcome = z.enum(outcomes);
export type Outcome = z.infer<typeof Outcome>;

/** One request to have an action executed, as the queue sees it. */
export interface ExecutionRequest {
  /** Chosen by the caller: submitting it twice is submitting it once. */
  readonly id: ExecutionId;
  readonly project: string;
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
  readonly platform: Platform;
  /** The smallest size class that may run it. */
  readonly sizeClass: number;
  /** The greatest that may; however great when absent. */
  readonly mostSizeClass?: number | undefined;
  /** What the farm chose between the two; nothing when it had no choice. */
  readonly chosen?: ChosenSize | undefined;
  /** What it is, for people: a mnemonic and a target, or a job. */
  readonly title?: string;
  /** REv2's: lower is sooner; 0 is usual. */
  readonly priority: number;
  /** Of the one class that nothing overtakes. Whether somebody may ask for it is the caller's to know. */
  readonly top?: boolean;
  /** Of the one class that everything goes before: nobody waits for it. */
  readonly last?: boolean;
  /** What belongs together, for fairness: a graph, a Bazel invocation. */
  readonly invocation: string;
  /** Who it is done for: a principal's name. Turns go round among owners first. */
  readonly owner?: string;
  /** What it is like, from the most to the least alike (`similarityKeysOf`): asked for how long it may take. */
  readonly similarityKeys?: readonly string[];
  readonly timeoutMs: number;
  /** Neither joined with others in flight nor kept. */
  readonly doNotCache: boolean;
  /** For queue order and the page; unknown when absent. */
  readonly expectedDurationMs?: number;
}

/** Each state carries what is true in that state, and only that. */
export type ExecutionState =
  | { readonly kind: "queued"; readonly queuedAt: Date }
  | {
      readonly kind: "leased";
      readonly worker: string;
      readonly epoch: number;
      readonly leasedUntil: Date;
      /** Unset until the worker says that the process has started. */
      readonly startedAt: Date | undefined;
    }
  | { readonly kind: "finished"; readonly finishedAt: Date; readonly outcome: Outcome };
