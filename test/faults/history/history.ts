/**
 * Observations of a farm's clients, in their order. It contains no internal state of the farm: no tables, no leases.
 * Each execution of a job prints a random token at its start and end and writes it to its output, so that a result with
 * parts of two executions is detected.
 */
export type Observation =
  /** The farm accepted a graph. */
  | { readonly kind: "submitted"; readonly graph: string }
  /** A client read a graph: the states of its jobs by name. */
  | {
      readonly kind: "read";
      readonly graph: string;
      readonly state: string;
      readonly jobs: Readonly<Record<string, string>>;
    }
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
  /** The farm acknowledged a blob, which is named by its hash. */
  | { readonly kind: "uploaded"; readonly blob: string }
  /** A client read a blob: its bytes, other bytes, or the answer that there is none. */
  | {
      readonly kind: "blob";
      readonly blob: string;
      readonly bytes: "whole" | "other" | "absent";
    };

/** A promise of the farm that a history violates, and the violation. The names are those of the design: P1 to P9. */
export interface Violation {
  readonly promise: "P1" | "P2" | "P3" | "P5" | "P6" | "P8";
  /** The graph, or the blob. */
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
export function checkHistory(history: readonly Observation[]): Violation[] {
  const violations: Violation[] = [];
  const accepted = new Set<string>();
  const answered = new Set<string>();
  /** By graph and job, the terminal state that was seen first. */
  const ended = new Map<string, string>();
  const results = new Map<string, string>();
  for (const seen of history) {
    const subject = "blob" in seen ? seen.blob : seen.graph;
    const broken = (promise: Violation["promise"], what: string) =>
      violations.push({ promise, subject, what });
    switch (seen.kind) {
      case "submitted":
      case "uploaded":
        accepted.add(subject);
        break;
      case "not-found":
        if (accepted.has(subject)) broken("P1", "it was accepted, and is not there");
        break;
      case "blob":
        answered.add(subject);
        if (seen.bytes === "other") broken("P5", "it was served with other bytes");
        if (seen.bytes === "absent" && accepted.has(subject))
          broken("P1", "it was acknowledged, and is not there");
        break;
      case "gave-up":
        broken("P8", "it did not end after the faults had ended");
        answered.add(subject);
        break;
      case "read":
        if (terminal.has(seen.state)) answered.add(subject);
        for (const [job, state] of [
          ["the graph", seen.state],
          ...Object.entries(seen.jobs),
        ] as const) {
          const key = JSON.stringify([subject, job]);
          const before = ended.get(key);
          if (before !== undefined && before !== state)
            broken("P3", `${job} was ${before}, and ${state} later`);
          if (before === undefined && terminal.has(state)) ended.set(key, state);
        }
        break;
      case "result": {
        const problem = problemOfResult(seen);
        if (problem !== undefined) broken(problem.promise, `${seen.job}: ${problem.what}`);
        const key = JSON.stringify([subject, seen.job]);
        const whole = `${seen.log}\0${seen.output}`;
        const before = results.get(key);
        if (before !== undefined && before !== whole)
          broken("P2", `${seen.job} has another result than before`);
        results.set(key, whole);
        break;
      }
    }
  }
  for (const subject of accepted)
    if (!answered.has(subject))
      violations.push({
        promise: "P1",
        subject,
        what: "it was accepted, and nobody saw it end or read it",
      });
  return violations;
}

/** One execution prints `begin TOKEN` and `end TOKEN`, once each, and its output is the token. */
function problemOfResult({
  log,
  output,
}: Extract<Observation, { kind: "result" }>): Pick<Violation, "promise" | "what"> | undefined {
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
