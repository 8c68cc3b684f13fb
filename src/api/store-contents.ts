import { z } from "zod";

const Count = z.number().int().nonnegative();

/** `GET /store/contents`: the blobs of the projects that the caller may read. */
export const StoreContents = z
  .object({
    /** Null until the first count, some minutes after the farm's first start. */
    countedAt: z.iso.datetime().nullable(),
    /** Null for callers without `read` for the whole farm. */
    farm: z
      .object({
        /** Null when the store may grow as large as the disk. */
        limitBytes: Count.nullable(),
        bytes: Count,
        blobs: Count,
      })
      .nullable(),
    /** The lower bounds of the classes of time without use, in ms. Blobs of the first class are not removed by age. */
    idleClassesMs: z.array(Count),
    /** The largest first. */
    projects: z.array(
      z.object({
        /** Null when the name is not known: then only the directory is. */
        project: z.string().nullable(),
        directory: z.string(),
        blobs: Count,
        bytes: Count,
        /** Bytes by the time without use, one for each of `idleClassesMs`. */
        idleBytes: z.array(Count),
      }),
    ),
    /** The blobs that eviction removes first, in this order, unless they are used before. */
    next: z.array(
      z.object({
        project: z.string().nullable(),
        /** `<hash>/<size>`. */
        digest: z.string(),
        bytes: Count,
        lastUsedAt: z.iso.datetime(),
        /** A graph of the last week or the index of a protected branch names it: others are removed before it. */
        isHeld: z.boolean(),
      }),
    ),
  })
  .meta({ id: "StoreContents" });
export type StoreContents = z.infer<typeof StoreContents>;
