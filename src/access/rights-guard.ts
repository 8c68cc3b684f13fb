import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { usableGrants } from "./grant.store.ts";
import { anyone, type Grant, wholeFarm } from "./principal.ts";
import { mayDo } from "./require-grant.ts";

/** Whether one of the grants lets somebody administer the farm. */
function leavesAnAdministrator(grants: readonly Grant[]): boolean {
  return mayDo({ name: "", grants }, "administer", wholeFarm);
}

/**
 * Refuses what has just been taken away, when nobody could give it back.
 *
 * To be called under `lockRights`, after the change: two who take each other's rights at once are then
 * not both right.
 */
export async function requireAnAdministrator(tx: Tx, now: Date): Promise<void> {
  if (leavesAnAdministrator(await usableGrants(tx, anyone, now))) return;
  throw new Fault(
    "failed_precondition",
    "then nobody could administer this farm any more: first give somebody else all rights " +
      "(`grange grant add NAME '*'`) and a token (`grange token create NAME`)",
  );
}
