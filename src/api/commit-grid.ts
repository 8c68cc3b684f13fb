import { z } from "zod";
import { GraphSummary } from "./graph.ts";
import { GraphState, JobState } from "./job-state.ts";

/** The meaning of a column: one job, or all jobs of one kind. */
export const GridColumns = z.enum(["job", "kind"]);
export type GridColumns = z.infer<typeof GridColumns>;

/** The conditions on the graphs of a grid. All that are given must hold. */
export const GridFilters = z.object({
  /** A part of the author's name, in any case. */
  author: z.string().max(200).optional(),
  branch: z.string().max(300).optional(),
  state: GraphState.optional(),
  /** A part of the subject or revision in any case, or the start of the commit. */
  text: z.string().max(200).optional(),
});
export type GridFilters = z.infer<typeof GridFilters>;

/** The jobs of one graph in one column. */
export const GridCell = z.object({
  /** The name of the job or kind. Null: jobs of all columns beyond the limit of an answer. */
  column: z.string().nullable(),
  /** The state of these jobs that needs most attention. */
  state: JobState,
  /** The first job in this state, by name. */
  job: z.string(),
  jobs: z.number().int(),
  /** How many of the jobs failed. */
  failed: z.number().int(),
  /** The failed step of `job`: the first error line of its log, or the message of its run; at most 200 characters. */
  failure: z.string().nullable(),
});
export type GridCell = z.infer<typeof GridCell>;

export const GridRow = z.object({ graph: GraphSummary, cells: z.array(GridCell) });
export type GridRow = z.infer<typeof GridRow>;

/** Graphs of a repository, the newest first, with the states of their jobs. */
export const CommitGrid = z
  .object({
    columns: GridColumns,
    rows: z.array(GridRow),
    /** `before` of the next page; null on the last page. */
    before: z.string().nullable(),
  })
  .meta({ id: "CommitGrid" });
export type CommitGrid = z.infer<typeof CommitGrid>;
