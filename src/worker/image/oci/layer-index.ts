import { z } from "zod";

/**
 * What one layer of an image says about one path. The order of the entries matters.
 *
 * Names are checked: `path` has the components without `.`, `..`, `/` and NUL; it is empty for the root. The bytes of
 * files are in numbered files beside the index, so that no name of an image is ever a path while a layer is read.
 */
export const LayerEntry = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("directory"),
    path: z.array(z.string()),
    mode: z.number(),
    mtime: z.number(),
  }),
  z.object({ kind: z.literal("file"), path: z.array(z.string()), number: z.number() }),
  z.object({ kind: z.literal("symlink"), path: z.array(z.string()), target: z.string() }),
  /** Another name of a file of this layer or of a lower one. */
  z.object({ kind: z.literal("hardlink"), path: z.array(z.string()), target: z.array(z.string()) }),
  /** Removes a path of lower layers. */
  z.object({ kind: z.literal("whiteout"), path: z.array(z.string()) }),
  /** Removes what lower layers have in this directory. */
  z.object({ kind: z.literal("opaque"), path: z.array(z.string()) }),
]);
export type LayerEntry = z.infer<typeof LayerEntry>;

export const LayerIndex = z.object({
  /** The digest of the layer without compression. */
  diffId: z.string(),
  /** The bytes of all of its files. */
  bytes: z.number(),
  entries: z.array(LayerEntry),
});
export type LayerIndex = z.infer<typeof LayerIndex>;
