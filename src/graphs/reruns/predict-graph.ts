import type { RunCause } from "#api/graph.ts";
import { edgeStatus } from "../advancing/edge-status.ts";
import type { SetAside } from "../advancing/job-progress.ts";
import {
  edgesBy,
  type GraphSnapshot,
  hasJoined,
  isUnderWay,
  type SnapshotEdge,
  type SnapshotJob,
} from "./graph-snapshot.ts";

/** The requested change of a graph. */
export interface Intent {
  /** Jobs that must run again, each with the cause. */
  readonly wants: ReadonlyMap<string, RunCause>;
  readonly setsAside: ReadonlyMap<string, SetAside>;
  /** Running jobs that must run again afterwards. */
  readonly prolongs: ReadonlySet<string>;
  /** Edges whose waiver changes, by `edgeKey`: true for waived, false for no longer waived. */
  readonly waivers: ReadonlyMap<string, boolean>;
}

export const noIntent: Intent = {
  wants: new Map(),
  setsAside: new Map(),
  prolongs: new Set(),
  waivers: new Map(),
};

export function edgeKey({ job, on }: Pick<SnapshotEdge, "job" | "on">): string {
  return `${job}\n${on}`;
}

/** The outcome for a job when everything that runs from now on succeeds. */
export type Fate =
  /** It will run, or runs already. */
  | { readonly kind: "runs" }
  /** Nothing happens to it: it stays as it ended, or was set aside. */
  | { readonly kind: "stays"; readonly job: EndedJob }
  /** It should run but another job prevents it: it is skipped. */
  | { readonly kind: "cannot"; readonly job: EndedJob; readonly because: string }
  /** Another run was requested but is not possible. It keeps its state. */
  | { readonly kind: "refused"; readonly job: EndedJob; readonly because: string };

type EndedJob = Pick<SnapshotJob, "state" | "latestRun" | "setAside">;

/**
 * Predicts a graph after an intent, on the assumption that every run succeeds.
 *
 * It uses the same rules as advancing, which decides one event at a time; here all events are followed to the end.
 */
export function predictGraph(graph: GraphSnapshot, intent: Intent): Map<string, Fate> {
  const fates = new Map<string, Fate>();
  const into = edgesBy("job", graph.edges);
  for (const job of graph.jobs) {
    fates.set(job.name, fateOf(job, into.get(job.name) ?? [], intent, fates));
  }
  return fates;
}

function fateOf(
  job: SnapshotJob,
  into: readonly SnapshotEdge[],
  { wants, setsAside, waivers }: Intent,
  fates: ReadonlyMap<string, Fate>,
): Fate {
  if (isUnderWay(job)) return { kind: "runs" };
  const aside = setsAside.get(job.name);
  if (aside !== undefined) return staysAside(job, aside);
  const edges = into.map((edge) => ({
    ...edge,
    waived: waivers.get(edgeKey(edge)) ?? edge.waived,
  }));
  const isRequested = wants.has(job.name);
  const wantsAlready = hasJoined(job)
    ? edges.some((edge) => !edge.waived && isMoving(fates.get(edge.on)))
    : job.wanted !== null;
  if (!isRequested && !wantsAlready) return { kind: "stays", job };
  const inTheWay = edges.find((edge) => !isMet(edge, fates.get(edge.on)))?.on;
  if (inTheWay === undefined) return { kind: "runs" };
  if (!wantsAlready) return { kind: "refused", job, because: inTheWay };
  return { kind: "cannot", job: { ...job, state: "unreachable" }, because: inTheWay };
}

function isMet(edge: Pick<SnapshotEdge, "condition" | "waived">, fate: Fate | undefined): boolean {
  switch (fate?.kind) {
    case "runs":
      return edgeStatus(edge, succeeded) === "met";
    case "cannot":
    case "refused":
    case "stays":
      return edgeStatus(edge, fate.job) === "met";
    case undefined:
      return edge.waived;
  }
}

const succeeded = {
  state: "succeeded",
  setAside: null,
  latestRun: { state: "finished", outcome: "succeeded", failureClass: null },
} as const;

/** Returns whether a job's state will change, so that jobs that wait for it are evaluated again. */
function isMoving(fate: Fate | undefined): boolean {
  return fate?.kind === "runs" || fate?.kind === "cannot";
}

function staysAside(job: SnapshotJob, setAside: SetAside): Fate {
  const state = setAside === "inactive" ? "inactive" : "expired";
  return { kind: "stays", job: { ...job, setAside, state } };
}
