import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import type { ProcessEnd } from "./run-process.ts";

export type Judged = Pick<ProcessEnd, "exitCode" | "stopped" | "outOfMemory">;

export interface Verdict {
  readonly outcome: Outcome;
  /** For people; empty when the process speaks for itself. */
  readonly message: string;
}

/** What the end of a process means, given the time and memory it had and what it left out. */
export function judgeOutcome(
  { exitCode, stopped, outOfMemory }: Judged,
  allowed: { readonly timeoutMs: number; readonly memoryBytes: number | undefined },
  missing: readonly string[],
): Verdict {
  if (stopped === "cancelled") return { outcome: Outcome.CANCELLED, message: "it was cancelled" };
  if (stopped === "timed_out") {
    return {
      outcome: Outcome.TIMED_OUT,
      message: `it ran longer than ${allowed.timeoutMs / 1_000} s`,
    };
  }
  if (exitCode !== 0 && outOfMemory) {
    const limit =
      allowed.memoryBytes === undefined ? "the machine's" : `its ${allowed.memoryBytes} bytes of`;
    return { outcome: Outcome.OUT_OF_MEMORY, message: `it needed more than ${limit} memory` };
  }
  if (exitCode !== 0) return { outcome: Outcome.FAILED, message: "" };
  return {
    outcome: Outcome.SUCCEEDED,
    message: missing.length === 0 ? "" : missingOutputs(missing),
  };
}

function missingOutputs(missing: readonly string[]): string {
  const shown = missing.slice(0, 10).join(", ");
  const more = missing.length > 10 ? ` and ${missing.length - 10} more` : "";
  return `declared outputs are missing: ${shown}${more}`;
}
