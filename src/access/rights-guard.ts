import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { usableGrants } from "./grant.store.ts";
import { anyone, type Grant, wholeFarm } from "./principal.ts";
import { mayDo } from "./require-grant.ts";

/** Returns whether one of the grants allows administering the farm. */
function leavesAnAdministrator(grants: readonly Grant[]): boolean {
  return mayDo({ name: "", grants }, "administer", wholeFarm);
}

/**
 * Refuses a change of rights that would leave the farm without an administrator.
 *
 * Call it after the change, with `lockRights` held: otherwise two principals could remove each other's rights at the
 * same time.
 */
export async function requireAnAdministrator(tx: Tx, now: Date): Promise<void> {
  if (leavesAnAdministrator(await usableGrants(tx, anyone, now))) return;
  throw new Fault(
    "failed_precondition",
    "after this, nobody could administer the farm. First give another principal all rights " +
      "(`grange grant add NAME '*'`) and a token (`grange token create NAME`)",
  );
}
