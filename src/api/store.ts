import { z } from "zod";

const Count = z.number().int().nonnegative();
const Bytes = z.number().int().nonnegative();

/** The farm's store of blobs, as of the last look. */
export const StoreStanding = z
  .object({
    /** Null when the store may grow as large as the disk. */
    limitBytes: Bytes.nullable(),
    /** Null until the first count, some minutes after the server's start. */
    counted: z
      .object({
        at: z.iso.datetime(),
        blobs: Count,
        bytes: Bytes,
        /** Used within the last 3 hours; removed only when the disk fills up and nothing refers to it. */
        youngBytes: Bytes,
        /** Older blobs that unfinished work needs. */
        heldBytes: Bytes,
        /** The bytes above the limit after everything removable was removed. */
        overBytes: Bytes,
      })
      .nullable(),
    /** The last time that eviction removed something. */
    evicted: z
      .object({
        at: z.iso.datetime(),
        blobs: Count,
        bytes: Bytes,
        /** Results of actions, and entries of caches, that referred to removed blobs. */
        names: Count,
      })
      .nullable(),
    /** In total, since counting began. */
    evictedInAll: z.object({ blobs: Count, bytes: Bytes, names: Count }),
    /** The last time that every blob was compared with its digest; null before the first time. */
    scrubbed: z
      .object({
        at: z.iso.datetime(),
        blobs: Count,
        bytes: Bytes,
        /** Blobs that did not match their digest and were removed. */
        corrupt: Count,
      })
      .nullable(),
  })
  .meta({ id: "StoreStanding" });
export type StoreStanding = z.infer<typeof StoreStanding>;
