import { matchesPattern } from "#access/matches-pattern.ts";
import type { Principal } from "#access/principal.ts";
import type { Db } from "#db/db.ts";
import { type Forges, forgeFor } from "#forge/forge-services.ts";
import { findWatchedAt } from "#forge/repository.store.ts";

/**
 * Returns the address of a repository with its credential, when the farm watches it and the caller may submit there;
 * otherwise the address alone. A private repository then needs no second secret for manual builds.
 */
export async function addressWithCredential(
  { db, forges }: { readonly db: Db; readonly forges: Forges },
  address: string,
  by: Principal,
): Promise<string> {
  const watched = await findWatchedAt(db, address);
  if (watched === undefined) return address;
  const { name, kind, slug } = watched;
  const maySubmit = by.grants.some(
    ({ verb, repository }) =>
      (verb === "submit" || verb === "*") && matchesPattern(repository, name),
  );
  if (!maySubmit) return address;
  try {
    return await forgeFor(forges, kind).fetchAddress(slug);
  } catch {
    // A public repository can be fetched without a credential; for a private one, Git reports that access is denied.
    return address;
  }
}
