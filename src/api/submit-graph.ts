import { z } from "zod";
import { BranchName } from "./branch-name.ts";
import { GraphChoice } from "./graph-choice.ts";
import { SetReference } from "./set-name.ts";

/**
 * A client's id for a graph. The farm derives version 8 from commits: a client that took such an id would replace the
 * graph of its forge.
 */
export const ChosenGraphId = z
  .uuid()
  .refine((id) => id[14] !== "8", "an id of version 8 is the farm's own; take a random one");

/** Asks for the graph of a commit. */
export const SubmitGraph = z
  .object({
    /** A path on the server's machine, or a URL that its git can fetch. */
    repository: z.string().min(1).max(4_096),
    rev: z.string().min(1).max(512).default("HEAD"),
    ...GraphChoice.shape,
    branch: BranchName.optional(),
    /** Name the graph yourself, and submitting it twice is submitting it once. */
    id: ChosenGraphId.optional(),
    /**
     * The set that the graph joins, whatever its repository: by name, or by a graph of it. A name that is new begins a
     * set. Needs the right to submit wherever the set has graphs.
     */
    set: SetReference.optional(),
    /** Run even if the action cache has the result. */
    skipCache: z.boolean().default(false),
    /** Higher is sooner; not given, it is usual. Caps of the branch and of the submitter hold. */
    priority: z.number().int().min(-1_000).max(1_000).optional(),
    /** The one class that nothing overtakes; needs a grant that has it. */
    top: z.boolean().optional(),
    /** How long any of its jobs may wait for its start, such as `2h`; a job's own definition may say less. */
    ttl: z.string().max(64).optional(),
    /** Changes of jobs' definitions for this graph alone: job → JSON merge patch. Needs the grant to customise. */
    patches: z.record(z.string(), z.record(z.string(), z.json())).optional(),
  })
  .meta({ id: "SubmitGraph" });
export type SubmitGraph = z.input<typeof SubmitGraph>;
