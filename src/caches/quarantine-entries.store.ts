import { z } from "zod";
import { type Digest, digestKey } from "#core/digest.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { EntryName } from "./tool-rules.ts";

const Entry = z
  .object({
    domain: TrustDomain,
    digest: z.string(),
    principal: z.string(),
    quarantined: z.boolean(),
  })
  .transform(({ quarantined, ...row }) => ({ ...row, isQuarantined: quarantined }));

/** Returns and locks the entries of a name in all domains, in quarantine or not, until the transaction ends. */
export function entriesInDoubt(
  tx: Tx,
  { project, tool, key }: EntryName,
): Promise<z.infer<typeof Entry>[]> {
  return tx.many(
    Entry,
    sql`
      select domain, digest, principal, quarantined
      from cache_entry
      where project = ${project} and tool = ${tool} and key = ${key}
      order by domain = ${protectedDomain} desc, domain
      for update
    `,
  );
}

/**
 * Quarantines a name in all domains: from now on no entry of that name is returned or replaced, even if none existed.
 */
export async function quarantineEntry(
  tx: Tx,
  { project, tool, key }: EntryName,
  doubted: { readonly digest: Digest; readonly principal: string },
): Promise<void> {
  await tx.run(sql`
    insert into cache_entry (project, tool, key, domain, digest, size_bytes, principal, quarantined)
    values (${project}, ${tool}, ${key}, ${protectedDomain}, ${digestKey(doubted.digest)},
      ${doubted.digest.sizeBytes}, ${doubted.principal}, true)
    on conflict (project, tool, key, domain) do update
    set quarantined = true
  `);
  await tx.run(sql`
    update cache_entry
    set quarantined = true
    where project = ${project} and tool = ${tool} and key = ${key} and not quarantined
  `);
}

/** Deletes the quarantined entries of a name, so that it is made again. */
export function releaseEntry(tx: Tx, { project, tool, key }: EntryName): Promise<number> {
  return tx.run(sql`
    delete from cache_entry
    where project = ${project} and tool = ${tool} and key = ${key} and quarantined
  `);
}
