import type { PlannedEffect, PlannedJob } from "#api/rerun.ts";
import { edgesBy, type GraphSnapshot, type SnapshotJob } from "./graph-snapshot.ts";
import { type Fate, type Intent, noIntent, predictGraph } from "./predict-graph.ts";
import { whyLeftAlone } from "./why-left-alone.ts";

/** Why a job must run again. */
export type Role = Extract<
  PlannedEffect,
  "runs" | "runs because downstream" | "runs because needed"
>;

export interface PlannedGraph {
  readonly graph: GraphSnapshot;
  /** The change to store, without the parts that would have no effect. */
  readonly intent: Intent;
  /** In the order in which jobs can run. */
  readonly jobs: readonly Omit<PlannedJob, "expectedMs">[];
}

interface Draft {
  readonly intent: Intent;
  /** The role of each job that must run again. */
  readonly roles: ReadonlyMap<string, Role>;
  /** All requested jobs, including those that need no new run. */
  readonly asked: ReadonlySet<string>;
  /** Why some of them do not run, if their graph alone does not show it. */
  readonly leftAlone?: ReadonlyMap<string, string>;
  readonly times: number;
}

/**
 * The list that is shown before anything is changed.
 *
 * It contains the jobs that run, or no longer run, because of the change, if all runs succeed. Jobs that continue as
 * before are not in it. Joins need no worker and are not listed.
 */
export function planGraph(graph: GraphSnapshot, draft: Draft): PlannedGraph {
  const before = predictGraph(graph, noIntent);
  const after = predictGraph(graph, draft.intent);
  const actions = new Map<string, Action>();
  for (const job of graph.jobs) {
    const action = actionFor(job, before.get(job.name), after.get(job.name), draft);
    if (action !== undefined) actions.set(job.name, action);
  }
  const waits = waitsAmong(graph, after, actions);
  const wants = [...draft.intent.wants].filter(([name]) => after.get(name)?.kind === "runs");
  return {
    graph,
    intent: { ...draft.intent, wants: new Map(wants) },
    jobs: graph.jobs.flatMap((job) => {
      const action = actions.get(job.name);
      if (action === undefined) return [];
      return [
        {
          graph: graph.id,
          job: job.name,
          state: job.state,
          ...action,
          waitsFor: action.cause === null ? [] : (waits.get(job.name) ?? []),
          times: action.does === "runs" ? draft.times : 1,
        },
      ];
    }),
  };
}

type Action = Pick<PlannedJob, "does" | "cause" | "why">;

function actionFor(
  job: SnapshotJob,
  before: Fate | undefined,
  after: Fate | undefined,
  { intent, roles, asked, leftAlone }: Draft,
): Action | undefined {
  const wanted = intent.wants.get(job.name);
  if (intent.prolongs.has(job.name))
    return { does: "runs", cause: "retrigger", why: "after the run that is under way" };
  if (intent.setsAside.has(job.name)) {
    return { does: "is set inactive", cause: null, why: job.reason };
  }
  if (wanted !== undefined && after?.kind === "runs") {
    return { does: roles.get(job.name) ?? "runs", cause: wanted, why: null };
  }
  if (job.kind !== "join" || asked.has(job.name)) {
    if (before?.kind === "cannot" && after?.kind === "runs") {
      const cause = job.state === "unreachable" ? "revive" : job.wanted;
      return { does: "is revived", cause, why: job.reason };
    }
    if (before?.kind === "runs" && after?.kind === "cannot") {
      return {
        does: "is skipped",
        cause: null,
        why: `it needs another outcome of ${after.because}`,
      };
    }
  }
  if (!asked.has(job.name)) return undefined;
  return {
    does: "is left alone",
    cause: null,
    why: leftAlone?.get(job.name) ?? whyLeftAlone(job, after),
  };
}

/** Returns, for each listed job, the listed jobs that run before it; joins between them are followed. */
function waitsAmong(
  graph: GraphSnapshot,
  after: ReadonlyMap<string, Fate>,
  actions: ReadonlyMap<string, Action>,
): Map<string, string[]> {
  const into = edgesBy("job", graph.edges);
  const waits = new Map<string, string[]>();
  for (const { name } of graph.jobs) {
    const sources = (into.get(name) ?? []).filter(({ waived }) => !waived).map(({ on }) => on);
    const found = sources.flatMap((on) => {
      const cause = actions.get(on)?.cause ?? null;
      if (cause !== null) return [on];
      return after.get(on)?.kind === "runs" && !actions.has(on) ? (waits.get(on) ?? []) : [];
    });
    waits.set(name, [...new Set(found)].toSorted());
  }
  return waits;
}
