import type { Tx } from "#db/db.ts";
import { runInParts } from "#db/run-in-parts.ts";
import { sql } from "#db/sql.ts";

/** Small enough that serialising so many does not delay other requests. */
const definitionsAtOnce = 2_000;
const entriesAtOnce = 4_000;

/** Keeps definitions under their names, sorted, so that two servers with the same ones lock them in the same order. */
export async function insertDefinitions(
  tx: Tx,
  definitions: readonly { readonly digest: string; readonly body: unknown }[],
): Promise<void> {
  await runInParts(
    tx,
    definitions,
    definitionsAtOnce,
    (part) => sql`
      insert into definition (digest, body)
      select digest, body
      from json_to_recordset(${JSON.stringify(part)}::json) as d (digest text, body jsonb)
      on conflict do nothing
    `,
  );
}

/** Stores which definition each name has in a catalog. */
export function insertEntries(
  tx: Tx,
  catalog: string,
  entries: readonly { readonly name: string; readonly digest: string }[],
): Promise<void> {
  return runInParts(
    tx,
    entries,
    entriesAtOnce,
    (part) => sql`
      insert into catalog_entry (catalog, name, definition)
      select ${catalog}, name, definition
      from unnest(${part.map(({ name }) => name)}::text[],
                  ${part.map(({ digest }) => digest)}::text[]) as e (name, definition)
      on conflict do nothing
    `,
  );
}
