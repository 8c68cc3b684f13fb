import type { Busy, Candidate } from "./order-claims.ts";

/** The candidates for a kind of worker in the queue. */
export interface Look {
  readonly candidates: readonly Candidate[];
  readonly busy: Busy;
}

/**
 * For this long, the next claims of the same kind choose from what is left of a look, in ms. An execution that is queued
 * meanwhile is considered later by as much. Decision 187.
 */
const validMs = 250;

/**
 * A look with fewer candidates is never used twice: it is cheap. With hundreds of candidates, each claim would read
 * hundreds of rows, to use a few of them.
 */
const manyCandidates = 256;

interface Recent {
  readonly atMs: number;
  look: Look;
}

/**
 * What is left of recent looks at a long queue, by kind of worker.
 *
 * An execution that another server has leased since is skipped by the statement that leases it. Those that have ended
 * since count as running for at most 250 ms more.
 */
export class RecentLooks {
  readonly #byKind = new Map<string, Recent>();

  /** Returns what is left of the last look, if it is recent and holds more than `needed` candidates. */
  find(kind: string, now: Date, needed: number): Look | undefined {
    const recent = this.#byKind.get(kind);
    if (recent === undefined) return undefined;
    const { atMs, look } = recent;
    if (look.candidates.length > needed && Math.abs(now.getTime() - atMs) < validMs) return look;
    this.#byKind.delete(kind);
    return undefined;
  }

  /** Remembers a look, if it has many candidates. */
  keep(kind: string, look: Look, now: Date): void {
    if (look.candidates.length < manyCandidates) this.#byKind.delete(kind);
    else this.#byKind.set(kind, { atMs: now.getTime(), look });
  }

  /** The next claims do not choose these candidates, and count them as running. */
  chosen(kind: string, candidates: readonly Candidate[]): void {
    const recent = this.#byKind.get(kind);
    if (recent === undefined) return;
    const ids = new Set(candidates.map(({ id }) => id));
    const lanes = new Map(recent.look.busy.lanes);
    const owners = new Map(recent.look.busy.owners);
    for (const { lane, ownerLane } of candidates) {
      lanes.set(lane, (lanes.get(lane) ?? 0) + 1);
      owners.set(ownerLane, (owners.get(ownerLane) ?? 0) + 1);
    }
    recent.look = {
      candidates: recent.look.candidates.filter(({ id }) => !ids.has(id)),
      busy: { lanes, owners },
    };
  }

  /** The next claim looks again, because the queue has changed. */
  forget(kind: string): void {
    this.#byKind.delete(kind);
  }
}
