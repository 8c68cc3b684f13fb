import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ForgePlace } from "./forge.ts";

/** The credentials of a repository whose address contains them, sealed by the key service. */
const SealedCredential = z.object({ keyId: z.string(), sealed: z.instanceof(Uint8Array) });
export type SealedCredential = z.infer<typeof SealedCredential>;

/** Returns the credentials for the repository of a slug; undefined when it needs none, or is not watched. */
export async function credentialOfRepository(
  tx: Tx,
  { kind, slug }: ForgePlace,
): Promise<SealedCredential | undefined> {
  const [way] = await tx.many(
    SealedCredential,
    sql`
      select way_key as "keyId", way as sealed from forge_repository
      where kind = ${kind} and slug = ${slug} and way is not null
    `,
  );
  return way;
}

const Open = z.object({ name: z.string(), kind: z.string(), slug: z.string() });

/** Repositories whose slugs contain credentials: written before these were sealed. */
export function openWays(tx: Tx): Promise<z.infer<typeof Open>[]> {
  return tx.many(
    Open,
    sql`
      select name, kind, slug from forge_repository
      where way is null and slug ~* '^[a-z][a-z0-9+.-]*://[^/@]*@' for update
    `,
  );
}

export async function putWay(
  tx: Tx,
  name: string,
  { slug, way }: { readonly slug: string; readonly way: SealedCredential },
): Promise<void> {
  await tx.run(sql`
    update forge_repository set slug = ${slug}, way = ${Buffer.from(way.sealed)}, way_key = ${way.keyId}
    where name = ${name}
  `);
}
