import { recentlyUsed } from "#core/recently-used.ts";
import type { LeasedExecution } from "../leasing/lease.ts";
import type { RegisteredWorker } from "../leasing/worker.store.ts";
import { type ClaimEvent, type ClaimState, nextClaimState } from "./claim-state.ts";

/** The number of kinds of workers that are remembered as having no work. */
const mostKinds = 1_000;

/** A claim that waits at this server. */
export interface WaitingClaim {
  readonly worker: RegisteredWorker;
  /** The highest number of executions. */
  readonly most: number;
  /** The kind of its worker, by `kindOf`. */
  readonly kind: string;
  /** Only `WaitingClaims` changes it. */
  state: ClaimState;
  readonly answer: (leased: LeasedExecution[]) => void;
}

/**
 * The claims that wait on a server; it records for which of them the queue may contain work.
 *
 * Claims are kept by the kind of their worker: with thousands of idle workers, transactions that add nothing to the queue
 * look at the few kinds and not at each claim.
 */
export class WaitingClaims {
  readonly #byKind = new Map<string, Set<WaitingClaim>>();
  #size = 0;
  readonly #giveBack: (leased: readonly LeasedExecution[]) => void;
  /** Counts possible additions to the queue. */
  #changes = 0;
  /** By kind of worker: the count at which the queue contained nothing for it. */
  readonly #emptyAsOf = recentlyUsed<number>(mostKinds);

  /** `giveBack` returns executions that were leased for a claim whose worker had gone. */
  constructor(giveBack: (leased: readonly LeasedExecution[]) => void) {
    this.#giveBack = giveBack;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of possible additions to the queue so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Records that something may have been added to the queue. */
  queueChanged(): void {
    this.#changes++;
  }

  /** Records that, at a count of changes, the queue contained nothing for these kinds of workers. */
  nothingFor(kinds: readonly string[], asOf: number): void {
    for (const kind of kinds) this.#emptyAsOf.set(kind, asOf);
  }

  /** Returns whether the queue may hold something for workers of a kind. */
  mayFind(kind: string): boolean {
    return this.#emptyAsOf.peek(kind) !== this.#changes;
  }

  /** Returns whether a claim that is not among `tried` may find something. */
  isAnyMissed(tried: readonly WaitingClaim[]): boolean {
    let known: ReadonlySet<WaitingClaim> | undefined;
    for (const [kind, claims] of this.#byKind) {
      if (!this.mayFind(kind)) continue;
      known ??= new Set(tried);
      for (const claim of claims)
        if (claim.state.kind !== "resting" && !known.has(claim)) return true;
    }
    return false;
  }

  add(claim: WaitingClaim): void {
    const alike = this.#byKind.get(claim.kind) ?? new Set();
    this.#byKind.set(claim.kind, alike.add(claim));
    this.#size++;
  }

  /**
   * Takes the waiting claims, to serve them: all, or those for which the queue may hold something. The caller passes all
   * of them to `served`.
   */
  take(which: "all" | "that-may-find"): WaitingClaim[] {
    const taken: WaitingClaim[] = [];
    for (const [kind, claims] of this.#byKind) {
      if (which === "that-may-find" && !this.mayFind(kind)) continue;
      for (const claim of claims) if (claim.state.kind === "waiting") taken.push(claim);
    }
    for (const claim of taken) this.#happened(claim, "taken", []);
    return taken;
  }

  /** Finishes a claim transaction; the leased executions are in the order of the claims. */
  served(
    claims: readonly WaitingClaim[],
    leasedPerClaim: readonly (readonly LeasedExecution[])[],
  ): void {
    claims.forEach((claim, i) => {
      const leased = leasedPerClaim[i] ?? [];
      this.#happened(claim, leased.length > 0 ? "found" : "nothing-found", leased);
    });
  }

  ended(claim: WaitingClaim, event: "wait-over" | "left"): void {
    this.#happened(claim, event, []);
  }

  /** Ends the waiting of all claims, or of those that `isMeant` selects. */
  allEnded(
    event: "cancelled" | "left",
    isMeant: (claim: WaitingClaim) => boolean = () => true,
  ): void {
    for (const claims of this.#byKind.values())
      for (const claim of claims) if (isMeant(claim)) this.#happened(claim, event, []);
  }

  #happened(claim: WaitingClaim, event: ClaimEvent, leased: readonly LeasedExecution[]): void {
    const { state, effect } = nextClaimState(claim.state, event);
    claim.state = state;
    if (state.kind === "answered") this.#remove(claim);
    switch (effect) {
      case "none":
        return;
      case "answer-with-nothing":
        claim.answer([]);
        return;
      case "answer-with-work":
        claim.answer([...leased]);
        return;
      case "give-work-back":
        this.#giveBack(leased);
        claim.answer([]);
        return;
    }
  }

  #remove(claim: WaitingClaim): void {
    const alike = this.#byKind.get(claim.kind);
    if (alike?.delete(claim) !== true) return;
    this.#size--;
    if (alike.size === 0) this.#byKind.delete(claim.kind);
  }
}
