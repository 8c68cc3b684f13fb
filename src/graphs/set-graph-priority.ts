import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { GraphPriority, SetGraphPriority } from "#api/graph-priority.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import {
  lockForReplacing,
  replaceExecutions,
} from "#execution/submitting/replace-executions.store.ts";
import { lockGraphs } from "./advancing/advance.store.ts";
import { admitPriority } from "./catalogs/admit-priority.ts";
import { branchDefinition } from "./catalogs/branch-definition.store.ts";
import type { GraphId } from "./graph-id.ts";
import {
  executionsOfGraph,
  graphPlace,
  priorityOfJob,
  saveJobPriority,
  savePriority,
  urgencyOf,
} from "./graph-priority.store.ts";

/** The change is repeated when jobs entered the queue at the same moment. */
const mostTries = 5;

/**
 * Changes the priority of a graph or of one of its jobs, within the caps; queued jobs get new places at once.
 *
 * Undefined when there is no such graph. Throws `permission_denied` above a cap of a protected branch.
 */
export async function setGraphPriority(
  queue: { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> },
  graphId: GraphId,
  request: SetGraphPriority,
  principal: Principal,
): Promise<GraphPriority | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await queue.transaction((tx) => changeOnce(tx, graphId, request, principal));
    } catch (cause) {
      const isLate = cause instanceof Fault && cause.code === "aborted";
      if (!isLate || tries === mostTries) throw cause;
    }
  }
}

async function changeOnce(
  tx: Tx,
  graphId: GraphId,
  request: SetGraphPriority,
  principal: Principal,
): Promise<GraphPriority | undefined> {
  // Executions are locked before graphs, as everywhere.
  const locked = new Set(await lockForReplacing(tx, await executionsOfGraph(tx, graphId)));
  const [graph] = await lockGraphs(tx, [graphId]);
  const before = graph && (await graphPlace(tx, graphId));
  if (before === undefined) return undefined;
  requireGrant(principal, "prioritise", before);
  const job = request.job === undefined ? undefined : await jobToChange(tx, graphId, request);
  const admission = admitPriority({
    branch: await branchDefinition(tx, before.repository, before.branch),
    requestedPriority: job === undefined ? request.priority : before.priority + job.asked,
    top: request.top ?? false,
    principal,
    where: before,
  });
  if (!admission.ok) throw new Fault("permission_denied", admission.refusal);

  const executions = await executionsOfGraph(tx, graphId);
  if (executions.some((id) => !locked.has(id)))
    throw new Fault("aborted", "jobs of the graph entered the queue at this moment; try again");
  if (job !== undefined) {
    // The caps apply to the sum of both.
    const priority = Math.max(-1_000, Math.min(1_000, admission.priority - before.priority));
    await saveJobPriority(tx, graphId, job.name, priority);
    const moved = await replaceExecutions(tx, await urgencyOf(tx, executions));
    await recordAudit(tx, {
      actor: principal.name,
      verb: "prioritise",
      graphId,
      job: job.name,
      detail: { from: { priority: job.was }, to: { priority } },
      reason: request.reason,
    });
    const notice = admission.notice ?? null;
    return { id: graphId, job: job.name, priority, top: before.top, notice, moved };
  }
  // A request for the top class alone keeps the priority, which another principal may have set.
  const { priority, cap } = request.priority === undefined ? before : admission;
  const top = request.top ?? before.top;
  await savePriority(tx, graphId, { priority, top, cap });
  const moved = await replaceExecutions(tx, await urgencyOf(tx, executions));
  await recordAudit(tx, {
    actor: principal.name,
    verb: "prioritise",
    graphId,
    detail: { from: { priority: before.priority, top: before.top }, to: { priority, top } },
    reason: request.reason,
  });
  return { id: graphId, job: null, priority, top, notice: admission.notice ?? null, moved };
}

async function jobToChange(
  tx: Tx,
  graphId: GraphId,
  { job: name = "", priority }: SetGraphPriority,
) {
  const was = await priorityOfJob(tx, graphId, name);
  if (was === undefined) throw new Fault("not_found", `there is no job "${name}" in the graph`);
  return { name, was, asked: priority ?? was };
}
