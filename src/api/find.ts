import { z } from "zod";
import { GraphState, JobState } from "./job-state.ts";

/** An object of the farm that a person looked for by its name. */
export const FoundObject = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("repository"), name: z.string() }),
  z.object({
    kind: z.literal("graph"),
    id: z.string(),
    repository: z.string(),
    branch: z.string(),
    commit: z.string(),
    subject: z.string(),
    state: GraphState,
  }),
  /** The newest job of this name in its repository. */
  z.object({
    kind: z.literal("job"),
    graph: z.string(),
    name: z.string(),
    repository: z.string(),
    branch: z.string(),
    state: JobState,
  }),
  z.object({ kind: z.literal("execution"), id: z.string() }),
  z.object({
    kind: z.literal("invocation"),
    id: z.string(),
    project: z.string(),
    tool: z.string(),
    principal: z.string(),
  }),
  z.object({
    kind: z.literal("benchmark"),
    suite: z.string(),
    /** Six words, `-` for none. */
    case: z.string(),
  }),
  z.object({ kind: z.literal("worker"), name: z.string() }),
]);
export type FoundObject = z.infer<typeof FoundObject>;

/** `GET /find`: at most `limit` objects of each kind. */
export const FoundObjects = z
  .object({ objects: z.array(FoundObject) })
  .meta({ id: "FoundObjects" });
export type FoundObjects = z.infer<typeof FoundObjects>;
