import { Fault, type FaultCode } from "#core/fault.ts";

/**
 * `wait`: nothing can be sent at present. `failing`: the farm responds but does not accept this now; others may be sent
 * before it. `refused`: it will never accept this; of several, each is retried separately. `all-refused`: it accepts
 * nothing of that kind from this granary.
 */
type FailureClass = "wait" | "failing" | "refused" | "all-refused";

const refusals: readonly FaultCode[] = ["invalid_argument", "out_of_range", "already_exists"];
/** The farm is unreachable, does not know this granary yet, or is overloaded; or this granary is stopping. */
const waits: readonly FaultCode[] = [
  "unavailable",
  "unauthenticated",
  "resource_exhausted",
  "cancelled",
];

/**
 * Classifies a failure; if unclear, it is retried. The limits of the spool restrict that, and dropped files cannot be
 * restored.
 */
export function classifyFailure(reason: unknown): FailureClass {
  if (!(reason instanceof Fault)) return "failing";
  if (reason.code === "permission_denied") return "all-refused";
  if (refusals.includes(reason.code)) return "refused";
  return waits.includes(reason.code) ? "wait" : "failing";
}

/** The most failures of one attempt. If everything fails at a farm, not every file is tried. */
const mostFailing = 4;

/**
 * Calls with all items; if that is refused or fails, with each half, down to the faulty item. Returns answers in no
 * order. Throws errors that block all items, and errors of more than a few items.
 */
export async function callInParts<Item, Answer>(
  items: readonly Item[],
  call: (items: readonly Item[]) => Promise<readonly Answer[]>,
  onRefused: (items: readonly Item[], reason: unknown) => void,
  onFailing: (item: Item, reason: unknown) => void,
): Promise<Answer[]> {
  let failing = 0;
  async function inParts(some: readonly Item[]): Promise<Answer[]> {
    if (some.length === 0) return [];
    try {
      return [...(await call(some))];
    } catch (reason) {
      const meaning = classifyFailure(reason);
      if (meaning === "wait") throw reason;
      if (meaning === "all-refused" || (meaning === "refused" && some.length === 1)) {
        onRefused(some, reason);
        return [];
      }
      const [only] = some;
      if (some.length === 1 && only !== undefined) {
        if (++failing > mostFailing) throw reason;
        onFailing(only, reason);
        return [];
      }
      const half = Math.ceil(some.length / 2);
      const first = await inParts(some.slice(0, half));
      return [...first, ...(await inParts(some.slice(half)))];
    }
  }
  return inParts(items);
}
