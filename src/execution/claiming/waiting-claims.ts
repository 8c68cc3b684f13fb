import { recentlyUsed } from "#core/recently-used.ts";
import type { LeasedExecution } from "../leasing/lease.ts";
import type { RegisteredWorker } from "../leasing/worker.store.ts";
import { type ClaimEvent, type ClaimState, nextClaimState } from "./claim-state.ts";

/** Kinds of workers of which it is known that nothing is left for them. */
const mostKinds = 1_000;

/** A claim that waits at this server. */
export interface WaitingClaim {
  readonly worker: RegisteredWorker;
  /** Executions at most. */
  readonly most: number;
  /** The kind of its worker, by `kindOf`. */
  readonly kind: string;
  /** Changed by `WaitingClaims` alone. */
  state: ClaimState;
  readonly answer: (leased: LeasedExecution[]) => void;
}

/** The claims that wait at a server, and for which of them the queue may hold something. */
export class WaitingClaims {
  readonly #claims = new Set<WaitingClaim>();
  readonly #giveBack: (leased: readonly LeasedExecution[]) => void;
  /** Counts how often something may have come into the queue. */
  #changes = 0;
  /** By kind of worker: the count as of which the queue held nothing for it. */
  readonly #emptyAsOf = recentlyUsed<number>(mostKinds);

  /** `giveBack` returns executions that were leased for a claim whose worker had gone. */
  constructor(giveBack: (leased: readonly LeasedExecution[]) => void) {
    this.#giveBack = giveBack;
  }

  get size(): number {
    return this.#claims.size;
  }

  /** How often something may have come into the queue so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Notes that something may have come into the queue. */
  queueChanged(): void {
    this.#changes++;
  }

  /** Notes that the queue held nothing for kinds of workers, as of a count of changes. */
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

  /** Takes those for which it is worth it out of the waiting ones, to serve them. The caller gives all to `served`. */
  take(isWorthIt: (claim: WaitingClaim) => boolean): WaitingClaim[] {
    const taken = [...this.#claims].filter(
      (claim) => claim.state.kind === "waiting" && isWorthIt(claim),
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

  /** Ends the waiting of all, or of those that `isMeant` names. */
  allEnded(
    event: "turned-away" | "left",
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
