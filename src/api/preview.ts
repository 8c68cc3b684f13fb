import { z } from "zod";
import { EdgeCondition, JobKind } from "./graph.ts";
import { GraphChoice, SwitchValues } from "./graph-choice.ts";
import { JobState } from "./job-state.ts";

export const PreviewGraph = GraphChoice.extend({
  repository: z.string().min(1).max(4_096).optional(),
  /** Left out, the catalog of the branch is looked at, for no commit. */
  rev: z.string().min(1).max(512).optional(),
  /** Changes of jobs' definitions for that graph alone: job → JSON merge patch. */
  patches: z.record(z.string(), z.record(z.string(), z.json())).optional(),
}).meta({ id: "PreviewGraph" });
export type PreviewGraph = z.input<typeof PreviewGraph>;

export const PreviewedJob = z.object({
  name: z.string(),
  kind: JobKind,
  state: JobState,
  tags: z.record(z.string(), z.string()),
  definition: z.string(),
  /** The median of past runs; null where there was none. */
  expectedMs: z.number().nullable(),
  /** Whether the action cache has its result; null where that is not known before it runs. */
  hasResult: z.boolean().nullable(),
});
export type PreviewedJob = z.infer<typeof PreviewedJob>;

export const GraphPreview = z
  .object({
    repository: z.string().nullable(),
    branch: z.string(),
    commit: z.string().nullable(),
    /** The id of the templates. */
    catalog: z.string(),
    /** The digest of the jobs that they become. */
    rendered: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    switches: SwitchValues,
    jobs: z.array(PreviewedJob),
    edges: z.array(z.object({ job: z.string(), on: z.string(), condition: EdgeCondition })),
    /** For the jobs that run and whose duration is known: the sum, and the longest path. */
    expectedMs: z.number(),
    criticalPathMs: z.number(),
  })
  .meta({ id: "GraphPreview" });
export type GraphPreview = z.infer<typeof GraphPreview>;
