import { recentlyUsed } from "#core/recently-used.ts";
import type { Lease, Work } from "#proto/grange/worker/v1/worker_pb.ts";
import { leaseKey } from "./spool.ts";

/** Far more than claims return at once. */
const mostRefused = 10_000;

/** Claimed executions that have not started, oldest first. */
export class ClaimedWork {
  readonly #work = new Map<string, { readonly work: Work; readonly sinceMs: number }>();

  /** Executions that were cancelled before the claim with them was answered. */
  readonly #refused = recentlyUsed<true>(mostRefused);

  get count(): number {
    return this.#work.size;
  }

  leases(): Lease[] {
    return leasesOf([...this.#work.values()]);
  }

  /** Returns false for an execution that must not start because it was cancelled before it arrived. */
  add(work: Work, nowMs: number): boolean {
    const key = leaseKey(work.lease);
    if (this.#refused.peek(key) === true) {
      this.#refused.forget(key);
      return false;
    }
    this.#work.set(key, { work, sinceMs: nowMs });
    return true;
  }

  /** An execution with this key is treated as cancelled when it arrives. */
  refuse(key: string): void {
    this.#refused.set(key, true);
  }

  /** Returns the next execution to start. */
  take(): Work | undefined {
    for (const [key, { work }] of this.#work) {
      this.#work.delete(key);
      return work;
    }
    return undefined;
  }

  takeByKey(key: string): Work | undefined {
    const found = this.#work.get(key);
    this.#work.delete(key);
    return found?.work;
  }

  /** Removes work that was claimed before a time, to return it. */
  takeOlderThan(timeMs: number): Lease[] {
    const old = [...this.#work].filter(([, { sinceMs }]) => sinceMs < timeMs);
    for (const [key] of old) this.#work.delete(key);
    return leasesOf(old.map(([, found]) => found));
  }
}

function leasesOf(found: readonly { readonly work: Work }[]): Lease[] {
  return found.map(({ work }) => work.lease).filter((lease) => lease !== undefined);
}
