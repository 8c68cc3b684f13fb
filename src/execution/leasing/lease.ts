import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ExecutionId } from "../execution.ts";

/**
 * A worker's right to an execution, until a time.
 *
 * `epoch` goes up at every hand-out and never comes back; what names an epoch that
 * is over is refused. `attempt` counts the tries: a lease given back unbegun is none.
 */
export interface Lease {
  readonly executionId: ExecutionId;
  readonly attempt: number;
  readonly epoch: number;
}

/** What a worker gets to know of an execution that it was handed. */
export interface LeasedExecution {
  readonly lease: Lease;
  readonly project: string;
  /** Whose results it makes. For the server alone: workers are not told. */
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
  readonly timeoutMs: number;
}

/** A process of a worker, as it names itself in every call. */
export interface WorkerProcess {
  readonly name: string;
  /** Random per process. */
  readonly instanceId: string;
}

/** One text per hand-out. */
export function leaseKey(lease: Lease): string {
  return `${lease.executionId}/${lease.attempt}/${lease.epoch}`;
}
