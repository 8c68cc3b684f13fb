import type { AccessSetting } from "#core/access-setting.ts";
import type { Tx } from "#db/db.ts";
import { accessSettingOf, grantsOfAnyoneWith } from "./access-setting.ts";
import { deleteGrantsOf, grantsOf, insertGrant, lockRights } from "./grant.store.ts";
import { anyone } from "./principal.ts";
import { requireAnAdministrator } from "./rights-guard.ts";

/**
 * Replaces the grants of `anyone` by those of a setting. Returns the setting before the change.
 *
 * Throws `failed_precondition` when nobody could administer the farm afterwards.
 */
export async function setAccess(
  tx: Tx,
  setting: AccessSetting,
  by: string,
  now: Date,
): Promise<AccessSetting> {
  await lockRights(tx);
  const before = accessSettingOf(await grantsOf(tx, anyone));
  await deleteGrantsOf(tx, anyone);
  for (const grant of grantsOfAnyoneWith(setting)) await insertGrant(tx, anyone, grant, by);
  await requireAnAdministrator(tx, now);
  return before;
}
