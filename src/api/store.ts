import { z } from "zod";

const Count = z.number().int().nonnegative();
const Bytes = z.number().int().nonnegative();

/** The farm's store of blobs, as it was when it was last looked at. */
export const StoreStanding = z
  .object({
    /** Null where the store may grow as large as the disk. */
    limitBytes: Bytes.nullable(),
    /** Null until it was counted once: some minutes after the server's start. */
    counted: z
      .object({
        at: z.iso.datetime(),
        blobs: Count,
        bytes: Bytes,
        /** Used within the last 3 hours: removed only when the disk fills up, and if nothing names it. */
        youngBytes: Bytes,
        /** Older blobs that unfinished work needs. */
        heldBytes: Bytes,
        /** Above the limit, though all went that may. */
        overBytes: Bytes,
      })
      .nullable(),
    /** The last time that something was removed. */
    evicted: z
      .object({
        at: z.iso.datetime(),
        blobs: Count,
        bytes: Bytes,
        /** Results of actions, and entries of caches, that named what went. */
        names: Count,
      })
      .nullable(),
    /** In all, since the store is counted. */
    evictedInAll: z.object({ blobs: Count, bytes: Bytes, names: Count }),
    /** The last time that every blob was compared with its digest; null until that was done once. */
    scrubbed: z
      .object({
        at: z.iso.datetime(),
        blobs: Count,
        bytes: Bytes,
        /** Blobs that were not as their digest says, and were removed. */
        corrupt: Count,
      })
      .nullable(),
  })
  .meta({ id: "StoreStanding" });
export type StoreStanding = z.infer<typeof StoreStanding>;
