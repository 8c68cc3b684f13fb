import { z } from "zod";

const Count = z.number().int().nonnegative();

/** The content of an output directory, by path. */
export const TreeListing = z
  .object({
    entries: z.array(
      z.discriminatedUnion("kind", [
        z.object({
          kind: z.literal("file"),
          path: z.string(),
          blob: z.string(),
          sizeBytes: Count,
          executable: z.boolean(),
        }),
        z.object({ kind: z.literal("directory"), path: z.string() }),
        z.object({ kind: z.literal("symlink"), path: z.string(), target: z.string() }),
      ]),
    ),
    /** The total number; of large trees, only the first entries are listed. */
    count: Count,
  })
  .meta({ id: "TreeListing" });
export type TreeListing = z.infer<typeof TreeListing>;
