import { z } from "zod";
import { EdgeCondition, JobKind } from "./graph.ts";
import { GraphChoice, SwitchValues } from "./graph-choice.ts";
import { JobState } from "./job-state.ts";

export const PreviewGraph = GraphChoice.extend({
  repository: z.string().min(1).max(4_096).optional(),
  /** When absent, the catalog of the branch is used, for no specific commit. */
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
  /** The median of past runs; null without past runs. */
  expectedMs: z.number().nullable(),
  /** Whether the action cache has its result; null when that is unknown before it runs. */
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
    /** The digest of the jobs made from the templates. */
    rendered: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    switches: SwitchValues,
    jobs: z.array(PreviewedJob),
    edges: z.array(z.object({ job: z.string(), on: z.string(), condition: EdgeCondition })),
    /** The sum and the longest path, for the jobs that run and have a known duration. */
    expectedMs: z.number(),
    criticalPathMs: z.number(),
  })
  .meta({ id: "GraphPreview" });
export type GraphPreview = z.infer<typeof GraphPreview>;
