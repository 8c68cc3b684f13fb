import { z } from "zod";
import { GraphSummary, RunCause } from "./graph.ts";
import { DefinitionChange } from "./job-origin.ts";
import { JobState } from "./job-state.ts";
import { maxSelectionLength } from "./selection/parse-selection.ts";
import { ChosenGraphId } from "./submit-graph.ts";

/** For people who later ask for the reason. */
const Reason = z.string().min(1).max(2_000);

/** Much longer than any name that a definition may have. */
const JobName = z.string().max(1_024);
const Selection = z.string().max(maxSelectionLength);

/** Options of every change of graphs: a dry run, or exactly the change of an earlier dry run. */
const Asking = {
  /** Returns the effect, and changes nothing. */
  dryRun: z.boolean().default(false),
  /** From the answer to a dry run: the request is refused if the effect would differ now. */
  token: z.string().max(100_000).optional(),
  reason: Reason.optional(),
};

/** Selects jobs: by name, or by a selection such as `platform:win32 & pgo & talos`. */
const Target = {
  /** Applies to all graphs of the set, not only to the named one. */
  wholeSet: z.boolean().default(false),
  selection: Selection.optional(),
  jobs: z.array(JobName).max(10_000).optional(),
};

/**
 * The extent of a retrigger.
 *
 * `alone`: only these jobs; jobs that were skipped because of them are set inactive. `revive`: jobs that were skipped
 * because of them run, too. `downstream`: all jobs that depend on them run again, in order.
 */
export const RerunMode = z.enum(["alone", "revive", "downstream"]);
export type RerunMode = z.infer<typeof RerunMode>;

/** `POST /graphs/ID/retrigger` */
export const Retrigger = z
  .strictObject({
    ...Target,
    ...Asking,
    mode: RerunMode.default("revive"),
    /** Only the stale jobs among these and among the jobs that depend on them. */
    onlyStale: z.boolean().default(false),
    /** The number of consecutive runs, independent of their results. */
    times: z.number().int().min(1).max(100).default(1),
    /** For queued or running jobs: further runs after the current one. Without it they are not changed. */
    another: z.boolean().default(false),
  })
  .meta({ id: "Retrigger" });
export type Retrigger = z.input<typeof Retrigger>;

/** `POST /graphs/ID/activate`: inactive, expired, coalesced jobs, with their dependencies. */
export const Activate = z
  .strictObject({
    ...Target,
    ...Asking,
    /** Also the jobs that depend on them. */
    downstream: z.boolean().default(false),
  })
  .meta({ id: "Activate" });
export type Activate = z.input<typeof Activate>;

/** `POST /graphs/ID/deactivate`: jobs that have not started. */
export const Deactivate = z.strictObject({ ...Target, ...Asking }).meta({ id: "Deactivate" });
export type Deactivate = z.input<typeof Deactivate>;

/** `POST /graphs/ID/waive`: the job continues without the dependency. */
export const Waive = z
  .strictObject({
    ...Asking,
    job: JobName,
    on: JobName,
    reason: Reason,
    /** Removes a waiver, before the job starts or after its end. */
    undo: z.boolean().default(false),
  })
  .meta({ id: "Waive" });
export type Waive = z.input<typeof Waive>;

/** `POST /graphs/ID/release`: lets a breakpoint continue. */
export const Release = z
  .strictObject({
    job: JobName,
    verdict: z.enum(["go", "stop"]),
    reason: Reason.optional(),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: "Release" });
export type Release = z.input<typeof Release>;

/** `POST /graphs/ID/customise`: a JSON merge patch (RFC 7396) over the job's definition; null removes the patch. */
export const Customise = z
  .strictObject({
    job: JobName,
    patch: z.record(z.string(), z.json()).nullable(),
    /**
     * The job's `origin.revision` that this change is based on: refused (409) when there is a later one. Without it, a
     * patch is refused when the job is customised differently already.
     */
    after: z.number().int().min(0).optional(),
    /** Runs the job again with the change; required when the job has started. */
    retrigger: z.boolean().default(false),
    reason: Reason.optional(),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: "Customise" });
export type Customise = z.input<typeof Customise>;

/**
 * `POST /graphs/ID/clone`
 *
 * `as-it-ran`: with its original definitions, including changes by people. `uncustomised`: without those changes.
 * `today`: with the current definitions. Runs and results are never cloned.
 */
export const CloneMode = z.enum(["as-it-ran", "uncustomised", "today"]);
export type CloneMode = z.infer<typeof CloneMode>;

export const Clone = z
  .strictObject({
    mode: CloneMode.default("as-it-ran"),
    /** The selected jobs, with their dependencies; all by default. */
    selection: Selection.optional(),
    jobs: z.array(JobName).max(10_000).optional(),
    /** The clone does not join the set of the original. */
    ownSet: z.boolean().default(false),
    reason: Reason.optional(),
    dryRun: z.boolean().default(false),
    /** An id chosen by the client, so that a repeated request makes only one clone. */
    id: ChosenGraphId.optional(),
  })
  .meta({ id: "Clone" });
export type Clone = z.input<typeof Clone>;

/** The effect of a change on one job. Jobs that are not listed continue as before. */
export const PlannedEffect = z.enum([
  /** The job was requested. */
  "runs",
  /** A job that it depends on runs again, and its dependents were requested, too. */
  "runs because downstream",
  /** A requested job needs it. */
  "runs because needed",
  /** It was skipped, and the reason disappears if the runs succeed. */
  "is revived",
  /** It would have run after a failure, and is skipped if the runs succeed. */
  "is skipped",
  "is set inactive",
  /** It was requested, but is not possible; `why` gives the reason. */
  "is left alone",
]);
export type PlannedEffect = z.infer<typeof PlannedEffect>;

export const PlannedJob = z.object({
  graph: z.string(),
  job: z.string(),
  /** The state before. */
  state: JobState,
  does: PlannedEffect,
  /** The cause of the run; null when there is no run. */
  cause: RunCause.nullable(),
  why: z.string().nullable(),
  /** The other jobs of this list that must end before. */
  waitsFor: z.array(z.string()),
  /** The number of consecutive runs. */
  times: z.number().int(),
  /** The duration of one run, from earlier runs; null when it has never run. */
  expectedMs: z.number().nullable(),
});
export type PlannedJob = z.infer<typeof PlannedJob>;

/** The effects of a change, made or planned. */
export const PlannedChange = z
  .object({
    /** False for a dry run. */
    applied: z.boolean(),
    /** Identifies exactly this list: send it to apply exactly this change. */
    token: z.string(),
    jobs: z.array(PlannedJob),
    totals: z.partialRecord(PlannedEffect, z.number().int()),
    expected: z.object({
      /** The number of planned runs, including repeated runs of a job. */
      runs: z.number().int(),
      /** The longest chain among the listed jobs, without waiting times for workers. */
      endToEndMs: z.number(),
      /** The sum of all their runs. */
      workerMs: z.number(),
      /** In the currency of the farm's price; null when it has none. */
      cost: z.number().nullable(),
      /** Jobs whose duration is unknown; the sums do not contain them. */
      unknownJobs: z.number().int(),
      /** The longest chain, first to last. */
      criticalPath: z.array(z.object({ graph: z.string(), job: z.string() })),
    }),
  })
  .meta({ id: "PlannedChange" });
export type PlannedChange = z.infer<typeof PlannedChange>;

export const CustomisedJob = z
  .object({
    applied: z.boolean(),
    graph: z.string(),
    job: z.string(),
    /** All differences from the template; null when there are none. */
    patch: z.record(z.string(), z.json()).nullable(),
    /** The value of `after` for a change based on this one. */
    revision: z.number().int(),
    changes: z.array(DefinitionChange),
    definition: z.unknown(),
    /** The effect of a requested retrigger. */
    rerun: PlannedChange.nullable(),
  })
  .meta({ id: "CustomisedJob" });
export type CustomisedJob = z.infer<typeof CustomisedJob>;

/** A job of a planned clone, in its three forms; null when the job would not exist in that form. */
export const ClonedJobForms = z.object({
  job: z.string(),
  asItRan: z.string().nullable(),
  uncustomised: z.string().nullable(),
  today: z.string().nullable(),
  /** From `uncustomised` to `as-it-ran`: the customisations. */
  customisations: z.array(DefinitionChange),
  /** From `uncustomised` to `today`: the changes of the definitions. */
  changesSince: z.array(DefinitionChange),
});
export type ClonedJobForms = z.infer<typeof ClonedJobForms>;

export const ClonedGraph = z
  .object({
    applied: z.boolean(),
    /** Null for a dry run. */
    graph: GraphSummary.nullable(),
    jobs: z.array(z.string()),
    /** Jobs that differ between the three forms. */
    differences: z.array(ClonedJobForms),
    /** Why the form `today` is missing, if it is. */
    todayProblem: z.string().nullable(),
  })
  .meta({ id: "ClonedGraph" });
export type ClonedGraph = z.infer<typeof ClonedGraph>;

export const ReleasedBreakpoint = z
  .object({
    applied: z.boolean(),
    graph: z.string(),
    job: z.string(),
    verdict: z.enum(["go", "stop"]),
    state: JobState,
  })
  .meta({ id: "ReleasedBreakpoint" });
export type ReleasedBreakpoint = z.infer<typeof ReleasedBreakpoint>;

/** `GET /sets/SET`: graphs that belong together, the oldest first. SET is the set's name, or any of its graphs. */
export const GraphSet = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    graphs: z.array(GraphSummary),
  })
  .meta({ id: "GraphSet" });
export type GraphSet = z.infer<typeof GraphSet>;
