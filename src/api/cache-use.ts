import { z } from "zod";
import { CacheTool } from "./tool-cache.ts";

const Count = z.number().int().nonnegative();

/**
 * What requests a cache. `actions`: build tools over the Remote Execution API. `jobs`: jobs of graphs. `granaries`:
 * builds behind a granary. The others are tools with an HTTP cache.
 */
export const CacheUseKind = z.enum(["actions", "jobs", "granaries", ...CacheTool.options]);
export type CacheUseKind = z.infer<typeof CacheUseKind>;

/** The requests of one kind in one project, or of the jobs of one repository. */
export const CacheUseSeries = z.object({
  kind: CacheUseKind,
  /** The project; for `jobs`, the repository. */
  name: z.string(),
  hits: Count,
  misses: Count,
  /** Periods with requests, the oldest first. */
  periods: z.array(z.object({ at: z.iso.datetime(), hits: Count, misses: Count })),
});
export type CacheUseSeries = z.infer<typeof CacheUseSeries>;

/** `GET /caches/use`: how often caches had what was requested. */
export const CacheUseAnswer = z
  .object({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    /** The length of a period. Periods begin at multiples of it in UTC. */
    periodMs: Count,
    /** Those with most requests first; at most 200. */
    series: z.array(CacheUseSeries),
  })
  .meta({ id: "CacheUse" });
export type CacheUseAnswer = z.infer<typeof CacheUseAnswer>;
