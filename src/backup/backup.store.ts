import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const BackupRow = z.object({
  id: z.string(),
  startedAt: z.date(),
  finishedAt: z.date(),
  directory: z.string(),
  host: z.string(),
  databaseBytes: z.number(),
  blobs: z.number(),
  blobBytes: z.number(),
  copiedBytes: z.number(),
  damagedBlobs: z.number(),
});
/** A backup that was completed. Sizes are in bytes. */
export type BackupRow = z.infer<typeof BackupRow>;

/** Records a completed backup. */
export async function insertBackup(tx: Tx, backup: BackupRow): Promise<void> {
  await tx.run(sql`
    insert into backup (id, started_at, finished_at, directory, host, database_bytes, blobs, blob_bytes, copied_bytes, damaged_blobs)
    values (${backup.id}, ${backup.startedAt}, ${backup.finishedAt}, ${backup.directory}, ${backup.host},
            ${backup.databaseBytes}, ${backup.blobs}, ${backup.blobBytes}, ${backup.copiedBytes}, ${backup.damagedBlobs})
    on conflict (id) do nothing
  `);
}

/** Returns the newest completed backups, the latest first. */
export function latestBackups(tx: Tx, most: number): Promise<BackupRow[]> {
  return tx.many(
    BackupRow,
    sql`
      select id, started_at as "startedAt", finished_at as "finishedAt", directory, host, database_bytes as "databaseBytes",
             blobs, blob_bytes as "blobBytes", copied_bytes as "copiedBytes", damaged_blobs as "damagedBlobs"
      from backup order by finished_at desc, id limit ${most}
    `,
  );
}

/** Deletes all but the newest records. They describe backups that were made, not those that still exist. */
export function forgetBackups(tx: Tx, keep: number): Promise<number> {
  return tx.run(sql`
    delete from backup where id not in (select id from backup order by finished_at desc, id limit ${keep})
  `);
}
