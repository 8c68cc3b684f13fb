import { z } from "zod";
import { DefinitionsSource, SwitchValues } from "./graph-choice.ts";

const Time = z.iso.datetime();

/** The entry of one branch, or of all as `*`. Absent values are inherited. */
export const BranchBody = z.strictObject({
  switches: SwitchValues.optional(),
  parameters: z.record(z.string(), z.json()).optional(),
  /** The highest priority of its graphs; null for no cap. */
  priorityCap: z.number().int().min(-1_000).max(1_000).nullable().optional(),
  /** Only signed and uncustomised definitions may run on it. */
  protected: z.boolean().optional(),
  /** Whether jobs may be customised there. Default: only when it is not protected. */
  customisable: z.boolean().optional(),
  source: DefinitionsSource.optional(),
});
export type BranchBody = z.infer<typeof BranchBody>;

/** The definition of a branch, with inherited values. */
export const ResolvedBranch = z.object({
  protected: z.boolean(),
  customisable: z.boolean(),
  priorityCap: z.number().nullable(),
  switches: SwitchValues,
  parameters: z.record(z.string(), z.json()),
  source: DefinitionsSource,
});
export type ResolvedBranch = z.infer<typeof ResolvedBranch>;

/** A change of a branch's definition; without a body, the entry was removed. */
export const BranchChange = z.object({
  number: z.number().int(),
  body: BranchBody.nullable(),
  setBy: z.string(),
  why: z.string().nullable(),
  setAt: Time,
});
export type BranchChange = z.infer<typeof BranchChange>;

/** Which catalog a branch uses, since when. */
export const BranchCatalog = z.object({
  branch: z.string(),
  catalog: z.string(),
  /** The commit that contained it; null when it was pushed. */
  commit: z.string().nullable(),
  setBy: z.string(),
  since: Time,
});
export type BranchCatalog = z.infer<typeof BranchCatalog>;

/** The definitions that the next submission for a branch uses, from their current source. */
export const NextDefinitions = z.object({
  /** Null when they cannot be read, or are unknown without a commit. */
  catalog: z.string().nullable(),
  /** The commit of the source repository that contains them; null when they come from no commit. */
  commit: z.string().nullable(),
  /** For people: why they cannot be read. */
  problem: z.string().nullable(),
});
export type NextDefinitions = z.infer<typeof NextDefinitions>;

/** Changes that the farm noticed in the repository that is the source of a branch's definitions. */
export const NoticedDefinitions = z.object({
  /** The newest commit that was read, its catalog, and since when. Null before the first. */
  commit: z.string().nullable(),
  catalog: z.string().nullable(),
  since: Time.nullable(),
  /** For people: why it cannot be read at present. */
  problem: z.string().nullable(),
});
export type NoticedDefinitions = z.infer<typeof NoticedDefinitions>;

export const Branch = z
  .object({
    repository: z.string(),
    /** `*` stands for all branches. */
    branch: z.string(),
    /** The branch's own entry. */
    own: BranchBody.nullable(),
    resolved: ResolvedBranch,
    /** The newest first. */
    history: z.array(BranchChange),
    /** The definitions of its last graph, or newer ones that were pushed for it. */
    catalog: BranchCatalog.nullable(),
    next: NextDefinitions,
    /** Null when its source is not another repository at a movable revision, or was not read yet. */
    noticed: NoticedDefinitions.nullable(),
  })
  .meta({ id: "Branch" });
export type Branch = z.infer<typeof Branch>;

export const SetBranch = z
  .object({
    /** Null removes the entry. */
    body: BranchBody.nullable(),
    why: z.string().max(4_096).optional(),
    /** The number of the change that this one is based on: refused when there is a later one. */
    after: z.number().int().optional(),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: "SetBranch" });
export type SetBranch = z.input<typeof SetBranch>;
