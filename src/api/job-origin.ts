import { z } from "zod";

/** One difference between two definitions. An absent value is undefined. */
export const DefinitionChange = z.object({
  /** `environment.LANG`, `commands` */
  path: z.string(),
  was: z.json().optional(),
  is: z.json().optional(),
});
export type DefinitionChange = z.infer<typeof DefinitionChange>;

/** The changes, the latest first. */
export const AuditRecord = z.object({
  seq: z.number().int(),
  at: z.iso.datetime(),
  actor: z.string(),
  verb: z.string(),
  job: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  reason: z.string().nullable(),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** The origin of a graph, and the graphs made from it. */
export const Lineage = z.object({
  parent: z.object({ id: z.string(), kind: z.string(), job: z.string().nullable() }).nullable(),
  /** Clones, backfills, bisections, and graphs made by jobs; the oldest first. */
  children: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      job: z.string().nullable(),
      state: z.string(),
      createdAt: z.iso.datetime(),
    }),
  ),
});
export type Lineage = z.infer<typeof Lineage>;

/** What a job's page shows besides its runs: its customisation and its origin. */
export const JobOrigin = z.object({
  /** The definition before the customisation for this graph; null without one. */
  template: z.unknown().nullable(),
  patch: z.record(z.string(), z.json()).nullable(),
  /** How often the definition was changed in this graph: the `after` of the next change. */
  revision: z.number().int(),
  changes: z.array(DefinitionChange),
  lineage: Lineage,
  /** The changes of people to this job. */
  audit: z.array(AuditRecord),
});
export type JobOrigin = z.infer<typeof JobOrigin>;
