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

/** The execution as the worker that leased it sees it. */
export interface LeasedExecution {
  readonly lease: Lease;
  readonly project: string;
  /** The trust domain of its result. Only for the server: workers do not get it. */
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

/** Returns a text that identifies a hand-out. */
export function leaseKey(lease: Lease): string {
  return `${lease.executionId}/${lease.attempt}/${lease.epoch}`;
}
