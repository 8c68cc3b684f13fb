import { z } from "zod";
import { DefinitionsSource } from "#api/graph-choice.ts";

/** Changes of jobs: job → JSON merge patch. */
export const Patches = z.record(z.string(), z.record(z.string(), z.json()));

/** The content of a link to a new graph: the whole selection, so that it can be sent to others. */
export const NewGraphSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  rev: z.coerce.string().optional().catch(undefined),
  catalog: z.string().optional().catch(undefined),
  graph: z.string().optional().catch(undefined),
  select: z.string().optional().catch(undefined),
  /** The set to join: its name, or one of its graphs. */
  set: z.coerce.string().optional().catch(undefined),
  priority: z.coerce.number().int().min(-1_000).max(1_000).optional().catch(undefined),
  ttl: z.coerce.string().optional().catch(undefined),
  definitionsFrom: DefinitionsSource.optional().catch(undefined),
  patches: Patches.optional().catch(undefined),
  parameters: z.record(z.string(), z.json()).optional().catch(undefined),
  switches: z
    .record(z.string(), z.union([z.boolean(), z.string()]))
    .optional()
    .catch(undefined),
});
export type NewGraphSearch = z.infer<typeof NewGraphSearch>;
