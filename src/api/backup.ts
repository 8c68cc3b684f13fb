import { z } from "zod";

const Bytes = z.number().int().nonnegative();

/** A backup of the farm that was completed. */
export const Backup = z
  .object({
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    /** The path that `grange backup` got, on `host`. */
    directory: z.string(),
    host: z.string(),
    /** The size of the rows, compressed. */
    databaseBytes: Bytes,
    blobs: z.number().int().nonnegative(),
    blobBytes: Bytes,
    /** Blobs that no earlier backup in the directory had. */
    copiedBytes: Bytes,
    /** Blobs whose bytes did not match their digest: they are not in the backup. */
    damagedBlobs: z.number().int().nonnegative(),
  })
  .meta({ id: "Backup" });
export type Backup = z.infer<typeof Backup>;
