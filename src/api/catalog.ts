import { z } from "zod";
import { SwitchValue } from "./graph-choice.ts";

const Time = z.iso.datetime();

/** Fills the store with definitions, and lets a branch use them. */
export const PushCatalog = z
  .object({
    /** File name → text. */
    files: z.record(z.string(), z.string()),
    /** A path on the server's machine, a URL, or a name that the farm knows. Needed with `branch`. */
    repository: z.string().min(1).max(4_096).optional(),
    branch: z.string().min(1).max(512).optional(),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: "PushCatalog" });
export type PushCatalog = z.input<typeof PushCatalog>;

export const PushedCatalog = z
  .object({
    digest: z.string(),
    /** False when a catalog of this digest existed already, so that nothing changed. */
    isNew: z.boolean(),
    entries: z.number().int(),
    /** States that the branch does not use pushed definitions, and how to change that. */
    notice: z.string().nullable(),
  })
  .meta({ id: "PushedCatalog" });
export type PushedCatalog = z.infer<typeof PushedCatalog>;

export const catalogEntryKinds = ["job", "jobs", "parameter", "switch", "graph"] as const;

export const CatalogSummary = z
  .object({
    digest: z.string(),
    createdAt: Time,
    /** How many entries of each kind. */
    counts: z.partialRecord(z.enum(catalogEntryKinds), z.number().int()),
  })
  .meta({ id: "CatalogSummary" });
export type CatalogSummary = z.infer<typeof CatalogSummary>;

export const CatalogDetail = CatalogSummary.extend({
  /** Templates with placeholders, as written; or the jobs of a graph, with all placeholders filled. */
  holds: z.enum(["templates", "jobs"]),
  entries: z.array(
    z.object({
      kind: z.enum(catalogEntryKinds),
      name: z.string(),
      digest: z.string(),
      body: z.unknown(),
    }),
  ),
}).meta({ id: "CatalogDetail" });
export type CatalogDetail = z.infer<typeof CatalogDetail>;

/** A differing value and its path: `commands.0`, `tags.kind`. Undefined on a side that lacks it. */
export const ChangedPart = z.object({
  path: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type ChangedPart = z.infer<typeof ChangedPart>;

const Side = z.object({
  /** As it was requested. */
  written: z.string(),
  digest: z.string(),
  /** For a branch: the repository and its name, for the values of its switches. */
  repository: z.string().nullable(),
  branch: z.string().nullable(),
});

const Changes = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.object({ name: z.string(), parts: z.array(ChangedPart) })),
});

/** The differences of two catalogs. */
export const CatalogDiff = z
  .object({
    a: Side,
    b: Side,
    same: z.boolean(),
    jobs: Changes,
    parameters: Changes,
    switches: Changes,
    graphs: Changes,
    /** Only when the needs of jobs are written without placeholders. */
    edges: z.array(
      z.object({
        job: z.string(),
        on: z.string(),
        /** How the other job must end: a condition, or a text with placeholders. Null without an edge. */
        before: z.string().nullable(),
        after: z.string().nullable(),
      }),
    ),
    /** Between two branches: switches whose values differ. */
    switchValues: z.array(
      z.object({ name: z.string(), before: SwitchValue.nullable(), after: SwitchValue.nullable() }),
    ),
  })
  .meta({ id: "CatalogDiff" });
export type CatalogDiff = z.infer<typeof CatalogDiff>;
