import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ExecutionId, Outcome } from "../execution.ts";

/** The resources that the whole process tree used, as far as they were measured. */
export interface Usage {
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakMemoryBytes: number;
  /** `cgroup-v2`, `cgroup-v1` or `proc`. */
  readonly measuredBy: string;
}

/** Everything that is recorded when an execution ends. */
export interface FinishedExecution {
  readonly id: ExecutionId;
  readonly project: string;
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
  readonly invocation: string;
  readonly doNotCache: boolean;
  readonly attempt: number;
  /** The last worker; absent when it was cancelled before its assignment to a worker. */
  readonly worker: string | undefined;
  readonly queuedAt: Date;
  readonly leasedAt: Date | undefined;
  readonly startedAt: Date | undefined;
  /** When the report of the worker arrived; absent when none did, or when it is not known any more. */
  readonly reportedAt?: Date | undefined;
  readonly finishedAt: Date;
  readonly outcome: Outcome;
  readonly exitCode: number | undefined;
  /** A serialised REv2 ActionResult; absent when no process ended. */
  readonly result: Uint8Array | undefined;
  /** For people; empty without a message. */
  readonly message: string;
  readonly missingInputs: readonly Digest[];
  readonly usage: Usage | undefined;
}
