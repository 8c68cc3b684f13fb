import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { signedDigestOf } from "./signed-digest.ts";

/** A catalog, and the digest that a signature of it covers. */
export interface SignedCatalog {
  readonly catalog: string;
  readonly signedDigest: string;
}

/** Finds catalogs by a digest or its beginning; at most two. */
export async function findSignedCatalogs(tx: Tx, written: string): Promise<SignedCatalog[]> {
  if (!/^[0-9a-f]{4,64}(\/[0-9]*)?$/.test(written)) return [];
  const found = await tx.many(
    z.object({ digest: z.string() }),
    // `~` sorts after every character of a digest, so the range contains all digests with that
    // beginning.
    sql`
      select digest from catalog
      where digest collate "C" >= ${written} and digest collate "C" < ${`${written}~`} limit 2
    `,
  );
  return Promise.all(
    found.map(async ({ digest }) => ({
      catalog: digest,
      signedDigest: signedDigestOf(await entriesOf(tx, digest)),
    })),
  );
}

/** Returns the definitions of a catalog, by name. */
export function entriesOf(tx: Tx, catalog: string) {
  return tx.many(
    z.object({ name: z.string(), definition: z.unknown(), isJob: z.boolean() }),
    sql`
      select name, body as definition, holds <> 'templates' or starts_with(name, 'job/') as "isJob"
      from catalog_entry
      join definition on definition.digest = catalog_entry.definition
      join catalog on catalog.digest = catalog_entry.catalog
      where catalog = ${catalog}
    `,
  );
}
