import {
  clockErrorMs,
  ExecutionHistory,
  type ExecutionObservation,
  type ExecutionRules,
} from "./execution-history.ts";

/**
 * Observations of a farm's clients, in their order. It contains no internal state of the farm: no tables, and no leases
 * other than those that workers received. Each execution of a job prints a random token at its start and end and writes
 * it to its output, so that a result with parts of two executions is detected.
 */
export type Observation = GraphObservation | BlobObservation | ExecutionObservation;

type BlobObservation =
  /** The farm acknowledged a blob, which is named by its hash. */
  | { readonly kind: "uploaded"; readonly blob: string }
  /** A client read a blob: its bytes, other bytes, or the answer that there is none. */
  | {
      readonly kind: "blob";
      readonly blob: string;
      readonly bytes: "whole" | "other" | "absent";
    };

type GraphObservation =
  /** The farm accepted a graph. */
  | {
      readonly kind: "submitted";
      readonly graph: string;
      /** By job, the jobs without whose success no worker may get it. */
      readonly needs?: Readonly<Record<string, readonly string[]>>;
      /** By timer, how long it waits at least, in ms. */
      readonly timers?: Readonly<Record<string, number>>;
      /** The jobs that notify a receiver. */
      readonly notifies?: readonly string[];
      readonly at?: number;
    }
  /** A client read a graph: the states of its jobs by name. */
  | {
      readonly kind: "read";
      readonly graph: string;
      readonly state: string;
      readonly jobs: Readonly<Record<string, string>>;
      readonly at?: number;
    }
  /** A client asked to run jobs again, or to cancel the graph: states that were terminal may change. */
  | { readonly kind: "asked"; readonly graph: string; readonly for: "another run" | "its end" }
  /** The farm reported that an accepted graph does not exist. */
  | { readonly kind: "not-found"; readonly graph: string }
  /** A client stopped waiting, a sufficient time after the last fault. */
  | { readonly kind: "gave-up"; readonly graph: string }
  /** The log and the output of a job that succeeded; undefined if the farm did not return it. */
  | {
      readonly kind: "result";
      readonly graph: string;
      readonly job: string;
      readonly log: string;
      readonly output: string | undefined;
    }
  /** A receiver got a notification of a run of a job; `id` tells repetitions from others. */
  | {
      readonly kind: "notified";
      readonly graph: string;
      readonly job: string;
      readonly run: number;
      readonly id: string;
    };

/**
 * A promise of the farm that a history violates, and the violation. P1 to P9 are the names of the design; `edges` is that a job
 * waits for what it needs, `attempts` that they are bounded, `consistency` that no own statement or constraint fails.
 */
export interface Violation {
  readonly promise:
    | "P1"
    | "P2"
    | "P3"
    | "P4"
    | "P5"
    | "P6"
    | "P8"
    | "edges"
    | "attempts"
    | "consistency";
  /** The graph, the execution, or the blob. */
  readonly subject: string;
  readonly what: string;
}

/** Final states of graphs and jobs, which change only if a user requests another run. */
const terminal: ReadonlySet<string> = new Set([
  "succeeded",
  "failed",
  "cancelled",
  "expired",
  "coalesced",
]);

/** Returns the promises that a history violates. A history without violations proves nothing about other histories. */
export function checkHistory(
  history: readonly Observation[],
  rules: ExecutionRules = { leaseMs: 15_000, mostAttempts: 5 },
): Violation[] {
  const checker = new HistoryChecker(rules);
  return [...history.flatMap((seen) => checker.observe(seen)), ...checker.end()];
}

/** What was seen of one graph. */
interface SeenGraph {
  isAccepted: boolean;
  isAnswered: boolean;
  isToEnd: boolean;
  needs: Readonly<Record<string, readonly string[]>>;
  timers: Readonly<Record<string, number>>;
  notifies: readonly string[];
  submittedAt: number;
  /** By job, the terminal state that was seen first; the graph itself has the name "". */
  readonly ended: Map<string, string>;
  readonly results: Map<string, string>;
  /** Jobs of which a worker reported a success. */
  readonly done: Set<string>;
  /** By job and run, and by job, the notification that a receiver got. */
  readonly notified: Map<string, string>;
}

/** Judges a history while it is observed: each violation is reported with the observation that shows it. */
export class HistoryChecker {
  readonly #graphs = new Map<string, SeenGraph>();
  readonly #executions: ExecutionHistory;
  /** By blob, whether it was read after it was acknowledged. */
  readonly #blobs = new Map<string, boolean>();

  constructor(rules: ExecutionRules) {
    this.#executions = new ExecutionHistory(rules);
  }

  observe(seen: Observation): Violation[] {
    if ("blob" in seen) return this.#observeBlob(seen);
    if (!("execution" in seen)) return this.#observeGraph(seen);
    const ofGraphs = seen.kind === "handed-out" || seen.kind === "reported" ? seen.jobs : undefined;
    const edges =
      seen.kind === "handed-out"
        ? (ofGraphs ?? []).flatMap(({ graph, job }) => this.#tooEarly(graph, job))
        : [];
    if (seen.kind === "reported" && seen.outcome === "succeeded")
      for (const { graph, job } of ofGraphs ?? []) this.#of(graph).done.add(job);
    return [
      ...edges,
      ...this.#executions
        .observe(seen)
        .map(({ promise, about, what }) => ({ promise, subject: about, what })),
    ];
  }

  /** Returns what is wrong because it was never seen. */
  end(): Violation[] {
    const lost = this.#executions
      .end()
      .map(({ promise, about, what }): Violation => ({ promise, subject: about, what }));
    for (const [graph, { isAccepted, isAnswered }] of this.#graphs)
      if (isAccepted && !isAnswered)
        lost.push({
          promise: "P1",
          subject: graph,
          what: "it was accepted, and nobody saw it end",
        });
    for (const [subject, isRead] of this.#blobs)
      if (!isRead)
        lost.push({ promise: "P1", subject, what: "it was acknowledged, and never read" });
    return lost;
  }

  #observeBlob(seen: BlobObservation): Violation[] {
    const subject = seen.blob;
    if (seen.kind === "uploaded") {
      this.#blobs.set(subject, false);
      return [];
    }
    const isAcknowledged = this.#blobs.has(subject);
    if (isAcknowledged) this.#blobs.set(subject, true);
    if (seen.bytes === "other")
      return [{ promise: "P5", subject, what: "it was served with other bytes" }];
    if (seen.bytes === "absent" && isAcknowledged)
      return [{ promise: "P1", subject, what: "it was acknowledged, and is not there" }];
    return [];
  }

  #observeGraph(seen: GraphObservation): Violation[] {
    const { graph } = seen;
    const one = this.#of(graph);
    switch (seen.kind) {
      case "submitted":
        one.isAccepted = true;
        one.needs = seen.needs ?? {};
        one.timers = seen.timers ?? {};
        one.notifies = seen.notifies ?? [];
        one.submittedAt = seen.at ?? 0;
        return [];
      case "not-found":
        if (!one.isAccepted) return [];
        one.isAnswered = true;
        return [{ promise: "P1", subject: graph, what: "it was accepted, and is not there" }];
      case "gave-up":
        one.isAnswered = true;
        return [
          { promise: "P8", subject: graph, what: "it did not end after the faults had ended" },
        ];
      case "asked":
        one.ended.clear();
        one.results.clear();
        if (seen.for === "its end") one.isToEnd = true;
        return [];
      case "read":
        return this.#read(seen, one);
      case "result":
        return result(seen, one);
      case "notified": {
        const key = `${seen.job} ${seen.run}`;
        const before = one.notified.get(key);
        one.notified.set(key, before ?? seen.id);
        one.notified.set(seen.job, seen.id);
        if (before === undefined || before === seen.id) return [];
        const what = `${seen.job} was told of twice, as ${before} and ${seen.id}`;
        return [{ promise: "P4", subject: graph, what }];
      }
    }
  }

  #read(seen: Extract<GraphObservation, { kind: "read" }>, one: SeenGraph): Violation[] {
    const { graph } = seen;
    const wrong: Violation[] = [];
    if (terminal.has(seen.state)) one.isAnswered = true;
    for (const [job, state] of [["", seen.state], ...Object.entries(seen.jobs)] as const) {
      const before = one.ended.get(job);
      const name = job === "" ? "the graph" : job;
      if (before !== undefined && before !== state)
        wrong.push({
          promise: "P3",
          subject: graph,
          what: `${name} was ${before}, and ${state} later`,
        });
      if (before === undefined && terminal.has(state)) one.ended.set(job, state);
      if (state === "cancelled" && !one.isToEnd && one.isAccepted && seen.at !== undefined)
        wrong.push({
          promise: "P1",
          subject: graph,
          what: `${name} was cancelled; nobody had asked`,
        });
      const waits = one.timers[job];
      if (state === "succeeded" && waits !== undefined && seen.at !== undefined) {
        const earlyMs = one.submittedAt + waits - seen.at;
        if (earlyMs > clockErrorMs)
          wrong.push({
            promise: "edges",
            subject: graph,
            what: `the timer ${job} was ${earlyMs} ms early`,
          });
      }
      if (state === "succeeded" && one.notifies.includes(job) && !one.notified.has(job))
        wrong.push({
          promise: "P4",
          subject: graph,
          what: `${job} succeeded, and nobody was notified`,
        });
    }
    return wrong;
  }

  #tooEarly(graph: string, job: string): Violation[] {
    const one = this.#of(graph);
    const missing = (one.needs[job] ?? []).filter((on) => !one.done.has(on));
    if (missing.length === 0) return [];
    const what = `a worker got ${job} before ${missing.join(", ")} had succeeded`;
    return [{ promise: "edges", subject: graph, what }];
  }

  #of(graph: string): SeenGraph {
    const known = this.#graphs.get(graph) ?? {
      isAccepted: false,
      isAnswered: false,
      isToEnd: false,
      needs: {},
      timers: {},
      notifies: [],
      submittedAt: 0,
      ended: new Map(),
      results: new Map(),
      done: new Set(),
      notified: new Map(),
    };
    this.#graphs.set(graph, known);
    return known;
  }
}

function result(seen: Extract<GraphObservation, { kind: "result" }>, one: SeenGraph): Violation[] {
  const { graph, job } = seen;
  const wrong: Violation[] = [];
  const problem = problemOfResult(seen);
  if (problem !== undefined)
    wrong.push({ ...problem, subject: graph, what: `${job}: ${problem.what}` });
  const whole = `${seen.log}\0${seen.output}`;
  const before = one.results.get(job);
  if (before !== undefined && before !== whole)
    wrong.push({ promise: "P2", subject: graph, what: `${job} has another result than before` });
  one.results.set(job, whole);
  return wrong;
}

/** One execution prints `begin TOKEN` and `end TOKEN`, once each, and its output is the token. */
function problemOfResult({
  log,
  output,
}: Extract<GraphObservation, { kind: "result" }>): Pick<Violation, "promise" | "what"> | undefined {
  const begun = [...log.matchAll(/^begin (\S+)$/gm)].map(([, token]) => token);
  const over = [...log.matchAll(/^end (\S+)$/gm)].map(([, token]) => token);
  if (begun.length !== 1 || over.length !== 1)
    return {
      promise: "P2",
      what: `its log has ${begun.length} beginnings and ${over.length} ends of an execution`,
    };
  if (begun[0] !== over[0])
    return { promise: "P2", what: "its log is put together from two executions" };
  if (output === undefined) return { promise: "P6", what: "its output cannot be read" };
  if (output.trim() !== begun[0])
    return { promise: "P5", what: "its output is not that of the execution in its log" };
  return undefined;
}
