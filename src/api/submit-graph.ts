import { z } from "zod";
import { BranchName } from "./branch-name.ts";
import { GraphChoice } from "./graph-choice.ts";
import { SetReference } from "./set-name.ts";

/**
 * A client's id for a graph. The farm derives ids of version 8 from commits: a client with such an id could replace the
 * graph of a forge's commit.
 */
export const ChosenGraphId = z
  .uuid()
  .refine((id) => id[14] !== "8", "only the farm uses ids of version 8; use a random id");

/** Requests the graph of a commit. */
export const SubmitGraph = z
  .object({
    /** A path on the server's machine, or a URL that its git can fetch. */
    repository: z.string().min(1).max(4_096),
    rev: z.string().min(1).max(512).default("HEAD"),
    ...GraphChoice.shape,
    branch: BranchName.optional(),
    /** An id chosen by the client, so that a repeated submission makes only one graph. */
    id: ChosenGraphId.optional(),
    /**
     * The set that the graph joins, independent of its repository: by name, or by one of its graphs. A new name begins
     * a set. Needs the right to submit wherever the set has graphs.
     */
    set: SetReference.optional(),
    /** Run even if the action cache has the result. */
    skipCache: z.boolean().default(false),
    /**
     * Jobs with a higher priority start first; the default when absent. Caps of the branch and of the submitter apply.
     */
    priority: z.number().int().min(-1_000).max(1_000).optional(),
    /** The top class, which nothing overtakes; needs a grant for it. */
    top: z.boolean().optional(),
    /** How long each of its jobs may wait for its start, such as `2h`; a job's own definition may set less. */
    ttl: z.string().max(64).optional(),
    /** Changes of jobs' definitions for this graph alone: job → JSON merge patch. Needs the grant to customise. */
    patches: z.record(z.string(), z.record(z.string(), z.json())).optional(),
  })
  .meta({ id: "SubmitGraph" });
export type SubmitGraph = z.input<typeof SubmitGraph>;
