/**
 * What clients and workers saw of single executions. Times are in ms, of one clock that only the observer has.
 *
 * A token names one execution of an action by one process; it is in the result that the process reports.
 */
export type ExecutionObservation =
  /** The farm accepted a request; an execution in flight may serve it. */
  | { readonly kind: "accepted"; readonly request: string; readonly execution: string }
  /** A worker's process received a lease. */
  | {
      readonly kind: "handed-out";
      readonly execution: string;
      readonly attempt: number;
      readonly epoch: number;
      readonly process: string;
      readonly at: number;
      /** The jobs of graphs that the action is. */
      readonly jobs?: readonly { readonly graph: string; readonly job: string }[];
    }
  /** A heartbeat, sent at this time, was answered: the process still has the lease. */
  | {
      readonly kind: "kept";
      readonly execution: string;
      readonly epoch: number;
      readonly sentAt: number;
    }
  /** The process has sent a report or given the lease back, or was killed: it has no right any more. */
  | { readonly kind: "let-go"; readonly execution: string; readonly epoch: number }
  /** A process sends the end of an execution. */
  | {
      readonly kind: "reported";
      readonly execution: string;
      readonly epoch: number;
      readonly outcome: string;
      readonly token: string;
      readonly jobs?: readonly { readonly graph: string; readonly job: string }[];
    }
  /** The farm's answer to a report. */
  | {
      readonly kind: "verdict";
      readonly execution: string;
      readonly epoch: number;
      readonly outcome: string;
      readonly token: string;
      readonly verdict: "accepted" | "refused";
    }
  /** A client asked that an execution be cancelled. */
  | { readonly kind: "cancelled"; readonly execution: string }
  /** A client saw how its request ended. */
  | {
      readonly kind: "ended";
      readonly request: string;
      readonly execution: string;
      readonly outcome: string;
      readonly attempt: number;
      /** Of the result; undefined without one. */
      readonly token: string | undefined;
    }
  /** The farm said that it does not know an execution that it had accepted. */
  | { readonly kind: "unknown"; readonly request: string; readonly execution: string };

export interface ExecutionRules {
  readonly leaseMs: number;
  /** After this many lost or failed attempts an execution is given up. */
  readonly mostAttempts: number;
  /** Attempts beyond these, on other size classes; none when absent. */
  readonly sizeRetries?: number;
}

/** What is wrong, with the name of the promise. */
interface Broken {
  readonly promise: "P1" | "P2" | "P3" | "attempts";
  readonly about: string;
  readonly what: string;
}

/**
 * How far the clock of a server may be from the true time: it reads that of the database, whose answer may be late.
 */
export const clockErrorMs = 2_500;

interface SeenLease {
  readonly process: string;
  /** Until this time the farm had promised it, when the last answer was given. */
  keptUntil: number;
  isLetGo: boolean;
}

interface SeenExecution {
  readonly leases: Map<number, SeenLease>;
  readonly reported: Map<string, { readonly epoch: number; readonly outcome: string }>;
  /** The token of the accepted report of success. */
  accepted: { readonly token: string; readonly epoch: number } | undefined;
  isCancelled: boolean;
  ended: { readonly outcome: string; readonly token: string | undefined } | undefined;
}

/** Judges what was seen of executions, one observation after the other. */
export class ExecutionHistory {
  readonly #rules: ExecutionRules;
  readonly #executions = new Map<string, SeenExecution>();
  readonly #accepted = new Map<string, string>();
  readonly #answered = new Set<string>();

  constructor(rules: ExecutionRules) {
    this.#rules = rules;
  }

  observe(seen: ExecutionObservation): Broken[] {
    const one = this.#of(seen.execution);
    const broken = (promise: Broken["promise"], what: string): Broken[] => [
      { promise, about: seen.execution, what },
    ];
    switch (seen.kind) {
      case "accepted":
        this.#accepted.set(seen.request, seen.execution);
        return [];
      case "handed-out":
        return this.#handedOut(seen, one)
          .flatMap((what) => broken("P2", what))
          .concat(
            seen.attempt > this.#mostAttempts()
              ? broken("attempts", `attempt ${seen.attempt} of at most ${this.#mostAttempts()}`)
              : [],
          );
      case "kept": {
        const lease = one.leases.get(seen.epoch);
        if (lease !== undefined)
          lease.keptUntil = Math.max(lease.keptUntil, seen.sentAt + this.#rules.leaseMs);
        return [];
      }
      case "let-go": {
        const lease = one.leases.get(seen.epoch);
        if (lease !== undefined) lease.isLetGo = true;
        return [];
      }
      case "reported":
        one.reported.set(seen.token, { epoch: seen.epoch, outcome: seen.outcome });
        return [];
      case "verdict":
        return this.#verdict(seen, one).flatMap((what) => broken("P2", what));
      case "cancelled":
        one.isCancelled = true;
        return [];
      case "ended":
        this.#answered.add(seen.request);
        return this.#ended(seen, one);
      case "unknown":
        this.#answered.add(seen.request);
        return broken("P1", "its request was accepted, and it is not there");
    }
  }

  /** Returns what is wrong because it was never seen. */
  end(): Broken[] {
    return [...this.#accepted].flatMap(([request, execution]) =>
      this.#answered.has(request)
        ? []
        : [
            {
              promise: "P1",
              about: execution,
              what: `${request} was accepted, and nobody saw it end`,
            },
          ],
    );
  }

  #mostAttempts(): number {
    return this.#rules.mostAttempts + (this.#rules.sizeRetries ?? 0);
  }

  #of(execution: string): SeenExecution {
    const known = this.#executions.get(execution) ?? {
      leases: new Map(),
      reported: new Map(),
      accepted: undefined,
      isCancelled: false,
      ended: undefined,
    };
    this.#executions.set(execution, known);
    return known;
  }

  #handedOut(
    seen: Extract<ExecutionObservation, { kind: "handed-out" }>,
    one: SeenExecution,
  ): string[] {
    const wrong: string[] = [];
    const before = one.leases.get(seen.epoch);
    if (before !== undefined)
      wrong.push(`epoch ${seen.epoch} is ${before.process}'s, and was handed to ${seen.process}`);
    if (one.accepted !== undefined && seen.epoch > one.accepted.epoch)
      wrong.push(
        `it was handed out as ${seen.epoch} although the success of ${one.accepted.epoch} was accepted`,
      );
    for (const [epoch, lease] of one.leases) {
      if (epoch >= seen.epoch || lease.isLetGo || one.isCancelled) continue;
      const leftMs = lease.keptUntil - seen.at;
      if (leftMs > clockErrorMs)
        wrong.push(
          `${seen.process} got it ${Math.round(leftMs)} ms before the lease of ${lease.process} was over`,
        );
    }
    one.leases.set(seen.epoch, {
      process: seen.process,
      keptUntil: Number.NEGATIVE_INFINITY,
      isLetGo: false,
    });
    return wrong;
  }

  #verdict(seen: Extract<ExecutionObservation, { kind: "verdict" }>, one: SeenExecution): string[] {
    if (seen.verdict === "refused" || seen.outcome !== "succeeded") return [];
    const wrong: string[] = [];
    const { accepted, ended } = one;
    if (accepted !== undefined && accepted.token !== seen.token)
      wrong.push(`two successes were accepted: ${accepted.token} and ${seen.token}`);
    const later = [...one.leases.keys()].find((epoch) => epoch > seen.epoch);
    if (later !== undefined)
      wrong.push(`a success of ${seen.epoch} was accepted after ${later} was handed out`);
    if (ended !== undefined && ended.token !== seen.token)
      wrong.push(`${seen.token} was accepted after it had ended as ${ended.outcome}`);
    one.accepted ??= { token: seen.token, epoch: seen.epoch };
    return wrong;
  }

  #ended(seen: Extract<ExecutionObservation, { kind: "ended" }>, one: SeenExecution): Broken[] {
    const about = seen.execution;
    const wrong: Broken[] = [];
    const { ended, accepted } = one;
    if (ended !== undefined && (ended.outcome !== seen.outcome || ended.token !== seen.token))
      wrong.push({
        promise: "P3",
        about,
        what: `it ended as ${ended.outcome} ${ended.token}, and as ${seen.outcome} ${seen.token} later`,
      });
    one.ended ??= { outcome: seen.outcome, token: seen.token };
    if (accepted !== undefined && accepted.token !== seen.token)
      wrong.push({
        promise: "P2",
        about,
        what: `the success ${accepted.token} was accepted, and it ended as ${seen.outcome} ${seen.token}`,
      });
    if (seen.outcome === "cancelled" && !one.isCancelled)
      wrong.push({ promise: "P1", about, what: "it was cancelled, and nobody had asked for that" });
    const isGivenUp = seen.outcome === "worker_lost" || seen.outcome === "infrastructure_error";
    if (isGivenUp && seen.attempt < this.#rules.mostAttempts)
      wrong.push({ promise: "attempts", about, what: `given up after ${seen.attempt} attempts` });
    return wrong;
  }
}
