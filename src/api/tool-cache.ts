import { z } from "zod";

const Count = z.number().int().nonnegative();

/**
 * The tools whose caches are served over HTTP, each with its own protocol. `results`: build systems that use the
 * granary's protocol. `maven`: Maven's build cache extension. `gocache`: Go, by `grange gocacheprog`.
 * `remote-asset`: content of the Remote Asset API, over gRPC only.
 */
export const CacheTool = z.enum([
  "bazel",
  "ccache",
  "sccache",
  "gradle",
  "maven",
  "turborepo",
  "nx",
  "gocache",
  "remote-asset",
  "dune",
  "results",
]);
export type CacheTool = z.infer<typeof CacheTool>;

/** The content of one tool's cache in one project. */
export const ToolCache = z.object({
  project: z.string(),
  tool: CacheTool,
  entries: Count,
  bytes: Count,
  /** Hits since this server started. */
  hits: Count,
  misses: Count,
  writes: Count,
  lastUsedAt: z.iso.datetime().nullable(),
});
export type ToolCache = z.infer<typeof ToolCache>;

export const ToolCaches = z.object({ caches: z.array(ToolCache) }).meta({ id: "ToolCaches" });
export type ToolCaches = z.infer<typeof ToolCaches>;
