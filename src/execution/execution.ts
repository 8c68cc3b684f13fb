import { z } from "zod";
import type { Digest } from "#core/digest.ts";
import type { Platform } from "#core/platform.ts";
import type { SpanPlace } from "#core/span-place.ts";
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

/** A request to execute an action, in the queue's form. */
export interface ExecutionRequest {
  /** Chosen by the caller: a second submission has no effect. */
  readonly id: ExecutionId;
  readonly project: string;
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
  readonly platform: Platform;
  /** The smallest size class that may run it. */
  readonly sizeClass: number;
  /** The greatest that may run it; no limit when absent. */
  readonly mostSizeClass?: number | undefined;
  /** The size class that the farm chose between the two bounds; absent when there was no choice. */
  readonly chosen?: ChosenSize | undefined;
  /** A title for people: a mnemonic and a target, or a job. */
  readonly title?: string;
  /** As in REv2, lower priorities come first; 0 is the default. */
  readonly priority: number;
  /** Whether it is in the top class, which nothing overtakes. The caller checks the right to it. */
  readonly top?: boolean;
  /** Whether it is in the last class, which comes after everything else, because no client waits for it. */
  readonly last?: boolean;
  /** The group that it belongs to, for fairness: a graph, or a Bazel invocation. */
  readonly invocation: string;
  /** The principal for which it runs. Turns alternate between owners first. */
  readonly owner?: string;
  /** Keys of similar executions, from the most to the least similar (`similarityKeysOf`), for the expected duration. */
  readonly similarityKeys?: readonly string[];
  readonly timeoutMs: number;
  /** It is neither merged with executions in flight nor cached. */
  readonly doNotCache: boolean;
  /** Used for the order of the queue and on pages; unknown when absent. */
  readonly expectedDurationMs?: number;
  /** Its place in a trace; absent when it is not traced. An equal execution in flight keeps its own. */
  readonly span?: SpanPlace | undefined;
}

/** Each state has exactly the fields that are valid in that state. */
export type ExecutionState =
  | { readonly kind: "queued"; readonly queuedAt: Date }
  | {
      readonly kind: "leased";
      readonly worker: string;
      readonly epoch: number;
      readonly leasedUntil: Date;
      /** Undefined until the worker reports that the process has started. */
      readonly startedAt: Date | undefined;
    }
  | { readonly kind: "finished"; readonly finishedAt: Date; readonly outcome: Outcome };
