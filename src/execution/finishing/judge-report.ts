import { type DigestFunction, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { ExecutionId, Outcome } from "../execution.ts";
import type { QueueHooks } from "../queue-hooks.ts";
import type { EndingLease } from "./decide-endings.ts";

/** A worker's report of the end of a lease, before it is checked. */
export interface FinishReport extends Omit<EndingLease, "end" | "learner"> {
  readonly outcome: Exclude<Outcome, "worker_lost">;
  /** The function of the digests in the result; SHA-256 when absent. */
  readonly digestFunction?: DigestFunction | undefined;
}

/**
 * Checks the report of a worker as far as possible.
 *
 * A success whose outputs are not in the store is a failure of the worker, not of the action, and is retried. A success
 * with another exit code than 0 is a failure. An illegal result is a failure of the action, because it would be illegal
 * again.
 */
export async function judgeReport(
  { outcome, digestFunction = "sha256", ...report }: FinishReport,
  hooks: Pick<QueueHooks, "missingOutputs">,
  projectOf: (id: ExecutionId) => Promise<string | undefined>,
): Promise<EndingLease> {
  const lacksInputs = (report.missingInputs ?? []).length > 0;
  const reported = (really: FinishReport["outcome"], message = report.message) => ({
    ...report,
    message,
    end: { kind: "reported" as const, outcome: really, lacksInputs },
  });
  if (outcome !== "succeeded") return reported(outcome);
  if (report.exitCode !== 0) return reported("failed");
  if (report.result === undefined)
    return reported("infrastructure_error", "the worker sent no result");
  try {
    const project = await projectOf(report.lease.executionId);
    // The execution no longer exists, so its lease is refused regardless of the report.
    if (project === undefined) return reported("succeeded");
    const missing = (await hooks.missingOutputs?.(report.result, digestFunction, project)) ?? [];
    if (missing.length === 0) return reported("succeeded");
    const names = missing.slice(0, 10).map(digestKey).join(", ");
    return reported(
      "infrastructure_error",
      `the worker reported ${missing.length} blobs that it has not uploaded: ${names}`,
    );
  } catch (reason) {
    if (!(reason instanceof Fault && reason.code === "invalid_argument")) throw reason;
    return { ...reported("failed", reason.message), result: undefined };
  }
}
