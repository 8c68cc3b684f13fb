import { z } from "zod";
import { GraphSummary, RunCause } from "./graph.ts";
import { DefinitionChange } from "./job-origin.ts";
import { JobState } from "./job-state.ts";
import { maxSelectionLength } from "./selection/parse-selection.ts";
import { ChosenGraphId } from "./submit-graph.ts";

/** For people who later want to know why it was done. */
const Reason = z.string().min(1).max(2_000);

/** Far more than any name that a definition may have. */
const JobName = z.string().max(1_024);
const Selection = z.string().max(maxSelectionLength);

/** Options of every change of graphs: a dry run, or exactly the change of an earlier dry run. */
const Asking = {
  /** Returns the effect, and changes nothing. */
  dryRun: z.boolean().default(false),
  /** From the answer to a dry run: refuse if the effect would differ now. */
  token: z.string().max(100_000).optional(),
  reason: Reason.optional(),
};

/** Which jobs are meant: by name, or by a selection such as `platform:win32 & pgo & talos`. */
const Target = {
  /** All graphs of the set, not the one that is named alone. */
  wholeSet: z.boolean().default(false),
  selection: Selection.optional(),
  jobs: z.array(JobName).max(10_000).optional(),
};

/**
 * The extent of a retrigger.
 *
 * `alone`: only these jobs; jobs that were skipped because of them are set inactive. `revive`: jobs that were skipped
 * because of them run, too. `downstream`: everything that depends on them runs again, in order.
 */
export const RerunMode = z.enum(["alone", "revive", "downstream"]);
export type RerunMode = z.infer<typeof RerunMode>;

/** `POST /graphs/ID/retrigger` */
export const Retrigger = z
  .strictObject({
    ...Target,
    ...Asking,
    mode: RerunMode.default("revive"),
    /** Not these jobs, but the stale ones among them and among the jobs that depend on them. */
    onlyStale: z.boolean().default(false),
    /** So many runs one after the other, whatever comes of them. */
    times: z.number().int().min(1).max(100).default(1),
    /** For queued or running jobs: further runs after the present one. Without it they are left alone. */
    another: z.boolean().default(false),
  })
  .meta({ id: "Retrigger" });
export type Retrigger = z.input<typeof Retrigger>;

/** `POST /graphs/ID/activate`: inactive, expired, coalesced jobs, with those that they need. */
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

/** `POST /graphs/ID/waive`: the job continues without the other. */
export const Waive = z
  .strictObject({
    ...Asking,
    job: JobName,
    on: JobName,
    reason: Reason,
    /** Takes a waiver back, before the job starts or when it is over. */
    undo: z.boolean().default(false),
  })
  .meta({ id: "Waive" });
export type Waive = z.input<typeof Waive>;

/** `POST /graphs/ID/release`: ends a breakpoint's waiting. */
export const Release = z
  .strictObject({
    job: JobName,
    verdict: z.enum(["go", "stop"]),
    reason: Reason.optional(),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: "Release" });
export type Release = z.input<typeof Release>;

/** `POST /graphs/ID/customise`: a JSON merge patch (RFC 7396) over the job's definition; null takes it back. */
export const Customise = z
  .strictObject({
    job: JobName,
    patch: z.record(z.string(), z.json()).nullable(),
    /**
     * The job's `origin.revision` that this change builds upon: refused (409) when there is a later one.
     * Without it, a patch is refused when the job is customised differently already.
     */
    after: z.number().int().min(0).optional(),
    /** Runs the job again with it; needed when it has started. */
    retrigger: z.boolean().default(false),
    reason: Reason.optional(),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: "Customise" });
export type Customise = z.input<typeof Customise>;

/**
 * `POST /graphs/ID/clone`
 *
 * `as-it-ran`: with the definitions that it had, changes by people included. `uncustomised`: without
 * those changes. `today`: as the definitions say now. Runs and results are never cloned.
 */
export const CloneMode = z.enum(["as-it-ran", "uncustomised", "today"]);
export type CloneMode = z.infer<typeof CloneMode>;

export const Clone = z
  .strictObject({
    mode: CloneMode.default("as-it-ran"),
    /** The selected jobs, with the jobs that they need; all by default. */
    selection: Selection.optional(),
    jobs: z.array(JobName).max(10_000).optional(),
    /** Leave the set of the original. */
    ownSet: z.boolean().default(false),
    reason: Reason.optional(),
    dryRun: z.boolean().default(false),
    /** Name the clone yourself, and asking twice makes one. */
    id: ChosenGraphId.optional(),
  })
  .meta({ id: "Clone" });
export type Clone = z.input<typeof Clone>;

/** The effect of a change on one job. Jobs that are not listed continue as before. */
export const PlannedEffect = z.enum([
  /** It was requested. */
  "runs",
  /** A job that it depends on runs again, and its dependents were requested, too. */
  "runs because downstream",
  /** A requested job needs it. */
  "runs because needed",
  /** It was skipped, and the reason for that disappears if all goes well. */
  "is revived",
  /** It would have run, and does not if all goes well: it was for a failure. */
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
  /** Which others of this list end first. */
  waitsFor: z.array(z.string()),
  /** Runs one after the other. */
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
    /** Names exactly this list: to be sent along when it is to be done, and nothing else. */
    token: z.string(),
    jobs: z.array(PlannedJob),
    totals: z.partialRecord(PlannedEffect, z.number().int()),
    expected: z.object({
      /** Runs to come, further ones of the same job included. */
      runs: z.number().int(),
      /** The longest chain among the listed jobs, without waiting for workers. */
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
    /** All that differs from the template now; null when nothing does. */
    patch: z.record(z.string(), z.json()).nullable(),
    /** The `after` of a change that builds upon this one. */
    revision: z.number().int(),
    changes: z.array(DefinitionChange),
    definition: z.unknown(),
    /** The effect of a requested retrigger. */
    rerun: PlannedChange.nullable(),
  })
  .meta({ id: "CustomisedJob" });
export type CustomisedJob = z.infer<typeof CustomisedJob>;

/** A job of a clone-to-be, in its three forms; null where it would not exist. */
export const ClonedJobForms = z.object({
  job: z.string(),
  asItRan: z.string().nullable(),
  uncustomised: z.string().nullable(),
  today: z.string().nullable(),
  /** From uncustomised to as it ran: the customisations. */
  customisations: z.array(DefinitionChange),
  /** From uncustomised to today: the changes of the definitions. */
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
    /** Why there is no present form, when there is none. */
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
