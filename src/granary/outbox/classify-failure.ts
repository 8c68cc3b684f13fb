import { Fault, type FaultCode } from "#core/fault.ts";

/**
 * `wait`: nothing leaves at present. `failing`: the farm answers, and does not take this now; others may go before it.
 * `refused`: it takes this never; of several, each is to be tried by itself. `all-refused`: it takes nothing of that
 * kind from us.
 */
type FailureClass = "wait" | "failing" | "refused" | "all-refused";

const refusals: readonly FaultCode[] = ["invalid_argument", "out_of_range", "already_exists"];
/** The farm is away, does not know us yet, or has too much to do; or this granary ends. */
const waits: readonly FaultCode[] = [
  "unavailable",
  "unauthenticated",
  "resource_exhausted",
  "cancelled",
];

/**
 * Classifies a failure; in doubt it is tried again. The limits of the spool bound that, and dropped files cannot be
 * restored.
 */
export function classifyFailure(reason: unknown): FailureClass {
  if (!(reason instanceof Fault)) return "failing";
  if (reason.code === "permission_denied") return "all-refused";
  if (refusals.includes(reason.code)) return "refused";
  return waits.includes(reason.code) ? "wait" : "failing";
}

/** The most failures of one attempt. When everything fails at a farm, not each file is tried. */
const mostFailing = 4;

/**
 * Calls with all items; where that is refused or fails, with each half, down to the one that is at fault. Answers in no
 * order. Throws what keeps all of them waiting, and what fails for more than a few.
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
