import { effectiveGrants } from "#access/grant.store.ts";
import { principalNamed } from "#access/principal.store.ts";
import type { Principal } from "#access/principal.ts";
import type { Tx } from "#db/db.ts";

/** Returns a principal with its own grants and those of other principals that apply to it. */
export async function rightsOf(
  tx: Tx,
  name: string,
  lenders: readonly string[] = [],
): Promise<Principal> {
  const grants = await effectiveGrants(tx, [name, ...lenders]);
  const known = await principalNamed(tx, name);
  return { name, grants, ...(known === undefined ? {} : { kind: known.kind }) };
}
