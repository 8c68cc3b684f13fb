import { Fault, type FaultCode } from "#core/fault.ts";

/**
 * `wait`: the farm may take it later. `refused`: it takes this never; of several, each is to be tried by itself.
 * `all-refused`: it takes nothing of that kind from us.
 */
export type FailureMeaning = "wait" | "refused" | "all-refused";

const refusals: readonly FaultCode[] = ["invalid_argument", "out_of_range", "already_exists"];

/** In doubt, things wait: the spool's limits bound that, and what is dropped does not come back. */
export function meaningOf(reason: unknown): FailureMeaning {
  if (!(reason instanceof Fault)) return "wait";
  if (reason.code === "permission_denied") return "all-refused";
  return refusals.includes(reason.code) ? "refused" : "wait";
}

/**
 * Calls with all items; where that is refused, with each half, down to the one that is at fault. Answers in no order.
 */
export async function callInParts<Item, Answer>(
  items: readonly Item[],
  call: (items: readonly Item[]) => Promise<readonly Answer[]>,
  onRefused: (items: readonly Item[], reason: unknown) => void,
): Promise<Answer[]> {
  if (items.length === 0) return [];
  try {
    return [...(await call(items))];
  } catch (reason) {
    const meaning = meaningOf(reason);
    if (meaning === "wait") throw reason;
    if (meaning === "all-refused" || items.length === 1) {
      onRefused(items, reason);
      return [];
    }
    const half = Math.ceil(items.length / 2);
    const first = await callInParts(items.slice(0, half), call, onRefused);
    return [...first, ...(await callInParts(items.slice(half), call, onRefused))];
  }
}
