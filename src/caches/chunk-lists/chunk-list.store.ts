import { z } from "zod";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const ChunkList = z.object({ chunks: z.array(z.string()) });

/** Returns the keys of a blob's chunks in their order, and marks the list as used; undefined when none is stored. */
export async function chunksOfBlob(
  tx: Tx,
  project: string,
  blob: Digest,
): Promise<readonly string[] | undefined> {
  const [found] = await tx.many(
    ChunkList,
    sql`
      with used as (
        update chunk_list
        set last_used_at = now()
        where project = ${project} and blob = ${digestKey(blob)}
          and last_used_at < now() - interval '1 hour'
      )
      select chunks from chunk_list where project = ${project} and blob = ${digestKey(blob)}
    `,
  );
  return found?.chunks;
}

/** Stores the chunks of a blob. Another list of the blob is replaced: some of its chunks were missing. */
export async function storeChunks(
  tx: Tx,
  project: string,
  blob: Digest,
  chunks: readonly Digest[],
): Promise<void> {
  await tx.run(sql`
    insert into chunk_list (project, blob, chunks)
    values (${project}, ${digestKey(blob)}, ${chunks.map(digestKey)})
    on conflict (project, blob) do update
    set chunks = excluded.chunks, last_used_at = excluded.last_used_at
  `);
}

/** Deletes some lists that were not used since then; returns how many. */
export function forgetUnusedChunkLists(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`
    delete from chunk_list
    where (project, blob) in (
      select project, blob from chunk_list
      where last_used_at < ${before}
      order by last_used_at
      limit 1000
      for update skip locked
    )
  `);
}
