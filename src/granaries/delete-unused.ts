import type { Db } from "#db/db.ts";
import { deleteBuilds } from "./granary-build.store.ts";
import { deleteCounts } from "./hourly-count.store.ts";
import { deleteIndexes, type UnusedIndex, unusedIndexes } from "./index-retention.store.ts";

/** The number of indexes of a protected branch that are kept regardless of age. */
export const keptOfProtectedBranch = 3;
const atOnce = 500;

export type IsProtected = (repository: string, branch: string) => Promise<boolean>;

/** Deletes commit indexes that were not used since; the newest of protected branches stay. */
export async function deleteUnusedIndexes(
  db: Db,
  before: Date,
  isProtected: IsProtected,
): Promise<number> {
  const known = new Map<string, Promise<boolean>>();
  const isKept = async ({ repository, branch, newer }: UnusedIndex) => {
    if (branch === "" || newer >= keptOfProtectedBranch) return false;
    const name = JSON.stringify([repository, branch]);
    const protection = known.get(name) ?? isProtected(repository, branch);
    known.set(name, protection);
    return protection;
  };
  let deleted = 0;
  for (let after = ""; ; ) {
    const unused = await unusedIndexes(db, {
      before,
      after,
      mostNewer: keptOfProtectedBranch,
      most: atOnce,
    });
    const going: UnusedIndex[] = [];
    for (const index of unused) if (!(await isKept(index))) going.push(index);
    if (going.length > 0) deleted += await deleteIndexes(db, going, before);
    if (unused.length < atOnce) return deleted;
    after = unused.at(-1)?.place ?? after;
  }
}

/** Deletes old build reports of granaries, and old counts of their senders. */
export async function deleteOldGranaryBuilds(db: Db, before: Date): Promise<void> {
  await deleteCounts(db, before);
  while ((await deleteBuilds(db, before)) > 0);
}
