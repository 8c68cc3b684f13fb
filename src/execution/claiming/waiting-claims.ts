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

/** The claims that wait on a server; it records for which of them the queue may contain work. */
export class WaitingClaims {
  readonly #claims = new Set<WaitingClaim>();
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
    return this.#claims.size;
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

  /** Returns whether the queue may hold something for a claim. */
  mayFind({ kind }: WaitingClaim): boolean {
    return this.#emptyAsOf.peek(kind) !== this.#changes;
  }

  /** Returns whether a claim that is not among `tried` may find something. */
  isAnyMissed(tried: readonly WaitingClaim[]): boolean {
    const known = new Set(tried);
    return [...this.#claims].some(
      (claim) => claim.state.kind !== "resting" && !known.has(claim) && this.mayFind(claim),
    );
  }

  add(claim: WaitingClaim): void {
    this.#claims.add(claim);
  }

  /** Removes the selected claims from the waiting ones, to serve them. The caller passes all of them to `served`. */
  take(shouldPrefetch: (claim: WaitingClaim) => boolean): WaitingClaim[] {
    const taken = [...this.#claims].filter(
      (claim) => claim.state.kind === "waiting" && shouldPrefetch(claim),
    );
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
    for (const claim of this.#claims) if (isMeant(claim)) this.#happened(claim, event, []);
  }

  #happened(claim: WaitingClaim, event: ClaimEvent, leased: readonly LeasedExecution[]): void {
    const { state, effect } = nextClaimState(claim.state, event);
    claim.state = state;
    if (state.kind === "answered") this.#claims.delete(claim);
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
}
