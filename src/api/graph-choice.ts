import { z } from "zod";

/** On, off, or a text such as a channel's name. */
export const SwitchValue = z.union([z.boolean(), z.string().max(4_096)]);
export type SwitchValue = z.infer<typeof SwitchValue>;

/** Switches and their values. The texts `on` and `off` set a boolean switch. */
export const SwitchValues = z.record(z.string().min(1).max(64), SwitchValue);
export type SwitchValues = z.infer<typeof SwitchValues>;

/** Where the definitions of graphs come from. */
export const DefinitionsSource = z.discriminatedUnion("kind", [
  /** The commit itself: its `.grange/`. */
  z.strictObject({ kind: z.literal("commit") }),
  /** The `.grange/` of another repository, at a revision. */
  z.strictObject({
    kind: z.literal("repository"),
    repository: z.string().min(1).max(4_096),
    rev: z.string().min(1).max(512).default("HEAD"),
  }),
  /** `*.yml` of a directory on the server's machine. */
  z.strictObject({ kind: z.literal("directory"), path: z.string().min(1).max(4_096) }),
  /** The definitions that were pushed for the branch through the API. */
  z.strictObject({ kind: z.literal("pushed") }),
]);
export type DefinitionsSource = z.infer<typeof DefinitionsSource>;

/** Selects a graph: its definitions, its values, and its jobs. */
export const GraphChoice = z.object({
  /** A catalog by its digest, instead of the definitions of the commit or branch. */
  catalog: z.string().max(128).optional(),
  /** Definitions from a source other than the branch's own. */
  definitionsFrom: DefinitionsSource.optional(),
  /** A graph that the definitions name; without one, all jobs. */
  graph: z.string().min(1).max(128).optional(),
  parameters: z.record(z.string(), z.json()).default({}),
  switches: SwitchValues.default({}),
  /** Only these jobs, and their dependencies: a selection. */
  select: z.string().optional(),
  /** The branch; by default, the branch that the revision names. */
  branch: z.string().max(512).optional(),
  /** Definitions that are sent along: file name → text. */
  definitions: z.record(z.string(), z.string()).optional(),
});
export type GraphChoice = z.input<typeof GraphChoice>;
