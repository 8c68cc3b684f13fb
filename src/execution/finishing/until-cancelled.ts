import { Fault } from "#core/fault.ts";
import type { ExecutionId } from "../execution.ts";
import type { ExecutionWatch } from "../execution-watch.ts";
import type { ExecutionView } from "../read-executions.store.ts";
import type { HeldCancellation } from "./cancellation.store.ts";

/** How long a cancellation waits for workers; they learn of it at once, or with the next heartbeat. */
export const confirmationWaitMs = 5_000;

/**
 * Waits until no process of these executions can start any more; returns the executions for which this is not certain
 * in time.
 */
export async function untilCancelled(
  watch: Pick<ExecutionWatch, "follow">,
  held: readonly HeldCancellation[],
  withinMs: number,
): Promise<HeldCancellation[]> {
  const signal = AbortSignal.timeout(withinMs);
  const isCertain = async (id: ExecutionId): Promise<boolean> => {
    try {
      for await (const view of watch.follow(id, signal)) if (startsNothing(view)) return true;
      return true;
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "not_found") return true;
      if (signal.aborted) return false;
      throw reason;
    }
  };
  const certain = await Promise.all(held.map(({ id }) => isCertain(id)));
  return held.filter((_, index) => certain[index] === false);
}

function startsNothing({ finished, cancelConfirmed }: ExecutionView): boolean {
  return finished !== undefined || cancelConfirmed;
}
