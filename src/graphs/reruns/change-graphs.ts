import { jobsDoneOnce, recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { PlannedChange } from "#api/rerun.ts";
import { Fault } from "#core/fault.ts";
import type { Verb } from "#core/verb.ts";
import type { Db, Tx } from "#db/db.ts";
import { advanceStoredGraph, type LockedGraph, lockGraphs } from "../advancing/advance.store.ts";
import { holdGraphToCost, holdJobsToLimits, isHeldToLimits } from "../catalogs/hold-to-limits.ts";
import type { GraphId } from "../graph-id.ts";
import { changeToken, refuseOtherThanShown } from "./change-token.ts";
import { describeChange } from "./describe-change.ts";
import { graphsInScope, snapshotsOf } from "./graph-snapshot.store.ts";
import type { GraphSnapshot } from "./graph-snapshot.ts";
import { limitedJobs } from "./limited-jobs.store.ts";
import { requireMayRunAgain } from "./may-run-again.ts";
import type { PlannedGraph } from "./planned-graph.ts";
import { forgetCancellation, type Request, setJobsAside, wantRuns } from "./requests.store.ts";
import { prolongSeries } from "./series.store.ts";

export interface ChangeServices {
  readonly db: Db;
  /** The price of a busy worker minute, in the farm owner's unit; 0 for none. */
  readonly pricePerWorkerMinute: number;
}

/** A change of the requested runs of some graphs' jobs. */
interface GraphChange {
  readonly graphId: GraphId;
  readonly wholeSet: boolean;
  readonly verb: Verb;
  readonly by: Principal;
  readonly dryRun: boolean;
  readonly token?: string | undefined;
  readonly reason?: string | undefined;
  /** For the audit log: the request as it was made. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** Identifies the request, also in `detail`: it is executed at most once. */
  readonly once?: string | undefined;
  /** Pure: the same graphs give the same plans. */
  plan(graphs: readonly GraphSnapshot[]): readonly PlannedGraph[];
  /** Returns, as text, why a listed job runs. */
  whyOf(job: PlannedGraph["jobs"][number]): string;
  /** Jobs that lose their customisation; in a dry run they still have it. */
  readonly uncustomises?: readonly string[];
  /**
   * Stores the assumptions of the plan other than its runs, such as a waiver; returns the names of the affected jobs.
   */
  before?(tx: Tx, graph: LockedGraph): Promise<readonly string[]>;
}

/**
 * Returns the effect of a change in a dry run; otherwise makes the change. Undefined when there is
 * no such graph.
 */
export function changeGraphs(
  services: ChangeServices,
  change: GraphChange,
): Promise<PlannedChange | undefined> {
  return services.db.transaction((tx) => changeGraphsIn(tx, services.pricePerWorkerMinute, change));
}

/**
 * Like `changeGraphs`, inside a transaction.
 *
 * The change is planned again under the graphs' locks, so that the answer is exact; with a token, it must equal the
 * preview.
 */
export async function changeGraphsIn(
  tx: Tx,
  pricePerWorkerMinute: number,
  change: GraphChange,
): Promise<PlannedChange | undefined> {
  const ids = await graphsInScope(tx, change.graphId, change.wholeSet);
  if (ids.length === 0) return undefined;
  const locked = change.dryRun ? [] : await lockGraphs(tx, ids);
  const { once } = change;
  if (once !== undefined && (await jobsDoneOnce(tx, change.graphId, once)) !== undefined) {
    throw new Fault("aborted", `the request ${once} was carried out a moment ago`);
  }
  const graphs = await snapshotsOf(tx, ids);
  for (const graph of graphs) requireGrant(change.by, change.verb, graph);
  const plans = change.plan(graphs);
  for (const { graph, jobs } of plans) {
    const running = jobs.filter(({ cause }) => cause !== null).map(({ job }) => job);
    await requireMayRunAgain(tx, graph, running, change.uncustomises);
    await holdToLimits(tx, graph, jobs, change);
  }
  const described = await describeChange(tx, plans, pricePerWorkerMinute);
  const answer = { token: changeToken(plans), ...described };
  if (change.dryRun) return { applied: false, ...answer };
  if (change.token !== undefined) refuseOtherThanShown(change.token, plans);
  for (const graph of locked) {
    const plan = plans.find((one) => one.graph.id === graph.id);
    if (plan !== undefined) await applyPlan(tx, graph, plan, change);
  }
  return { applied: true, ...answer };
}

/** Checks the limits of the principal that runs jobs again, not those of the submitter. */
async function holdToLimits(
  tx: Tx,
  graph: GraphSnapshot,
  jobs: PlannedGraph["jobs"],
  { by, verb, uncustomises = [] }: GraphChange,
): Promise<void> {
  const times = new Map(jobs.flatMap((job) => (job.cause === null ? [] : [[job.job, job.times]])));
  if (times.size === 0 || !isHeldToLimits(by, verb, graph)) return;
  const stored = await limitedJobs(tx, graph.id, [...times.keys()], uncustomises);
  const limited = stored.map((job) => ({ ...job, times: times.get(job.name) ?? 1 }));
  holdJobsToLimits(by, verb, graph, limited);
  await holdGraphToCost(tx, by, verb, graph, limited);
}

async function applyPlan(
  tx: Tx,
  graph: LockedGraph,
  { intent, jobs }: PlannedGraph,
  change: GraphChange,
): Promise<void> {
  const wanted = jobs.flatMap((job): Request[] => {
    const cause = intent.wants.get(job.job);
    const { times } = job;
    return cause === undefined ? [] : [{ job: job.job, cause, times, why: change.whyOf(job) }];
  });
  const concerned = (await change.before?.(tx, graph)) ?? [];
  const prolonged = jobs.filter(({ job }) => intent.prolongs.has(job));
  const happened = new Set([
    ...concerned,
    ...intent.wants.keys(),
    ...intent.setsAside.keys(),
    ...intent.prolongs,
  ]);
  if (happened.size === 0) return;
  const { by, verb, reason, detail } = change;
  await wantRuns(tx, graph.id, wanted, by.name);
  await prolongSeries(tx, graph.id, prolonged, by.name);
  await setJobsAside(tx, graph.id, intent.setsAside, `set inactive by ${by.name}`);
  await recordAudit(tx, {
    actor: by.name,
    verb,
    graphId: graph.id,
    detail: { ...detail, jobs: [...happened] },
    reason,
  });
  // Only a request for more jobs withdraws the cancellation of the graph.
  const cancelRequested = graph.cancelRequested && wanted.length + prolonged.length === 0;
  if (!cancelRequested) await forgetCancellation(tx, graph.id);
  await advanceStoredGraph(tx, { ...graph, cancelRequested }, [...happened]);
}
