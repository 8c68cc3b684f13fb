import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { HeldRow } from "../finishing/end-leases.store.ts";
import { requirementsText } from "../submitting/check-request.ts";
import type { ChosenSize } from "./size-class-roles.ts";

/** A held execution with a newly chosen class. */
export interface ResizedExecution {
  readonly held: HeldRow;
  readonly chosen: ChosenSize;
}

export interface Resized extends ResizedExecution {
  /** Whether its worker was lost; this counts as an attempt like any other loss. */
  readonly isLoss: boolean;
}

/** Puts held executions back into the queue, with their newly chosen classes. */
export async function resizeHeld(tx: Tx, resized: readonly Resized[]): Promise<void> {
  const rows = resized.map(({ held, chosen, isLoss }) => ({
    id: held.id,
    attempt: held.attempt,
    epoch: held.epoch,
    retries: isLoss ? 0 : 1,
    size_class: chosen.sizeClass,
    requirements: boundedRequirements(held, chosen),
    timeout_ms: chosen.timeoutMs,
    expected_duration_ms: chosen.expectedDurationMs,
    hedge_after_ms: chosen.hedge?.afterMs,
    hedge_size_class: chosen.hedge?.sizeClass,
  }));
  await tx.run(sql`
    update execution
    set state = 'queued', worker = null, worker_instance = null, leased_at = null, leased_until = null,
        started_at = null, size_retries = size_retries + anew.retries, size_class = anew.size_class,
        requirements = anew.requirements, timeout_ms = anew.timeout_ms,
        expected_duration_ms = anew.expected_duration_ms, hedge_after_ms = anew.hedge_after_ms,
        hedge_size_class = anew.hedge_size_class
    from json_to_recordset(${JSON.stringify(rows)}::json) as anew (
      id uuid, attempt integer, epoch bigint, retries integer, size_class integer, requirements text,
      timeout_ms bigint,
      expected_duration_ms bigint, hedge_after_ms bigint, hedge_size_class integer)
    where execution.id = anew.id and state = 'leased'
      and execution.attempt = anew.attempt and execution.epoch = anew.epoch
  `);
}

/** Returns the requirements with the greatest class that this choice allows. */
export function boundedRequirements(
  held: Pick<HeldRow, "requirements" | "mostSizeClass">,
  chosen: Pick<ChosenSize, "sizeClass" | "isExact">,
): string {
  const requirements = Platform.parse(JSON.parse(held.requirements));
  const most = chosen.isExact ? chosen.sizeClass : (held.mostSizeClass ?? undefined);
  return requirementsText(requirements, most);
}
