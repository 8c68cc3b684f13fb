import type { Db } from "#db/db.ts";
import type { GraphDefinitions } from "../catalogs/graph-definitions.ts";
import { keepTemplates } from "../catalogs/template-catalog.store.ts";

/** Below this number of entries, a second transaction costs more than it saves. */
const manyEntries = 1_000;

/**
 * Stores large templates while the graph is still planned: PostgreSQL would otherwise be idle meanwhile.
 *
 * Resolves when they are stored, also after a failure, because the submission stores what is missing. Templates of a
 * refused submission stay without use, and are removed with other unused ones.
 */
export async function storeTemplatesEarly(
  db: Db,
  { holds, catalog }: Pick<GraphDefinitions, "holds" | "catalog">,
): Promise<void> {
  if (holds !== "templates" || catalog.entries.length < manyEntries) return;
  await db.transaction((tx) => keepTemplates(tx, catalog)).catch(() => {});
}
