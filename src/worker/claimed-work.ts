import type { Lease, Work } from "#proto/grange/worker/v1/worker_pb.ts";
import { leaseKey } from "./spool.ts";

/** Work that was claimed and has not begun, oldest first. */
export class ClaimedWork {
  readonly #work = new Map<string, { readonly work: Work; readonly sinceMs: number }>();

  get count(): number {
    return this.#work.size;
  }

  leases(): Lease[] {
    return leasesOf([...this.#work.values()]);
  }

  add(work: Work, nowMs: number): void {
    this.#work.set(leaseKey(work.lease), { work, sinceMs: nowMs });
  }

  /** The next to begin. */
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

  /** Takes out what was claimed before a time, to be handed back. */
  takeOlderThan(timeMs: number): Lease[] {
    const old = [...this.#work].filter(([, { sinceMs }]) => sinceMs < timeMs);
    for (const [key] of old) this.#work.delete(key);
    return leasesOf(old.map(([, found]) => found));
  }
}

function leasesOf(found: readonly { readonly work: Work }[]): Lease[] {
  return found.map(({ work }) => work.lease).filter((lease) => lease !== undefined);
}
