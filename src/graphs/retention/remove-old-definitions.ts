import type { Db } from "#db/db.ts";
import { keepDefinitionsFromStoring } from "../catalog-use.store.ts";
import {
  definitionsOfNoCatalog,
  deleteReplacedCatalogs,
  deleteUnusedCatalogs,
  deleteUnusedDefinitions,
} from "./old-definitions.store.ts";

/** How much one transaction deletes. A catalog may have tens of thousands of entries. */
const most = { pointers: 1_000, catalogs: 20, definitions: 2_000 };

interface RemovedDefinitions {
  readonly catalogs: number;
  readonly definitions: number;
}

/**
 * Deletes catalogs that nobody has used since a time, and definitions to which no catalog and no job refers. Any number
 * of servers may do this at once.
 *
 * Definitions are looked for without a lock, because that reads whole tables. The transaction that deletes the found ones
 * looks again, while nobody else stores definitions.
 */
export async function removeOldDefinitions(db: Db, before: Date): Promise<RemovedDefinitions> {
  while ((await deleteReplacedCatalogs(db, before, most.pointers)) > 0);
  let catalogs = 0;
  for (;;) {
    const deleted = await db.transaction(
      (tx) => deleteUnusedCatalogs(tx, before, most.catalogs),
      "maintenance",
    );
    if (deleted === 0) break;
    catalogs += deleted;
  }
  let definitions = 0;
  for (;;) {
    const unused = await db.transaction(
      (tx) => definitionsOfNoCatalog(tx, most.definitions),
      "maintenance",
    );
    const deleted =
      unused.length === 0
        ? 0
        : await db.transaction(async (tx) => {
            await keepDefinitionsFromStoring(tx);
            return deleteUnusedDefinitions(tx, unused);
          }, "maintenance");
    if (deleted === 0) return { catalogs, definitions };
    definitions += deleted;
  }
}
