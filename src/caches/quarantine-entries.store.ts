import { z } from "zod";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { EntryName } from "./tool-rules.ts";

const Entry = z
  .object({ digest: z.string(), principal: z.string(), quarantined: z.boolean() })
  .transform(({ quarantined, ...row }) => ({ ...row, isQuarantined: quarantined }));

/** Returns and locks an entry, in quarantine or not, until the transaction ends. */
export async function entryInDoubt(
  tx: Tx,
  { project, tool, key }: EntryName,
): Promise<z.infer<typeof Entry> | undefined> {
  const [row] = await tx.many(
    Entry,
    sql`
      select digest, principal, quarantined
      from cache_entry
      where project = ${project} and tool = ${tool} and key = ${key}
      for update
    `,
  );
  return row;
}

/** Quarantines a name: from now on no entry of that name is returned or replaced, even if none existed. */
export async function quarantineEntry(
  tx: Tx,
  { project, tool, key }: EntryName,
  doubted: { readonly digest: Digest; readonly principal: string },
): Promise<void> {
  await tx.run(sql`
    insert into cache_entry (project, tool, key, digest, size_bytes, principal, quarantined)
    values (${project}, ${tool}, ${key}, ${digestKey(doubted.digest)}, ${doubted.digest.sizeBytes},
      ${doubted.principal}, true)
    on conflict (project, tool, key) do update
    set quarantined = true
  `);
}

/** Deletes a quarantined entry, so that it is made again. */
export function releaseEntry(tx: Tx, { project, tool, key }: EntryName): Promise<number> {
  return tx.run(sql`
    delete from cache_entry
    where project = ${project} and tool = ${tool} and key = ${key} and quarantined
  `);
}
