import { matchesPattern } from "#access/matches-pattern.ts";
import type { Principal } from "#access/principal.ts";
import type { Db } from "#db/db.ts";
import { type Forges, forgeFor } from "#forge/forge-services.ts";
import { findWatchedAt } from "#forge/repository.store.ts";

/**
 * The address of a repository with what it takes to be let in, where the farm watches it and somebody may submit
 * there; else as it is. A private repository then needs no second secret to be built from by hand.
 */
export async function wayIn(
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
    // A public one can be had all the same; of another, Git says that it lets nobody in.
    return address;
  }
}
