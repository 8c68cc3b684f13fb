import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ExecutionId } from "../execution.ts";

/**
 * A worker's right to an execution, until a time.
 *
 * `epoch` increases at every assignment and is never reused; calls with an old epoch are refused. `attempt` counts the
 * attempts; a lease that is returned before its start does not count.
 */
export interface Lease {
  readonly executionId: ExecutionId;
  readonly attempt: number;
  readonly epoch: number;
}

/** The execution for the worker that leased it. */
export interface LeasedExecution {
  readonly lease: Lease;
  readonly project: string;
  /** The trust domain of its result. Used only by the server; workers do not get it. */
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
  readonly timeoutMs: number;
}

/** A process of a worker, as it names itself in every call. */
export interface WorkerProcess {
  readonly name: string;
  /** A random id of the process. */
  readonly instanceId: string;
}

/** Returns a text that identifies an assignment. */
export function leaseKey(lease: Lease): string {
  return `${lease.executionId}/${lease.attempt}/${lease.epoch}`;
}
