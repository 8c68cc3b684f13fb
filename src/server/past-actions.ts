import type { Where } from "#access/principal.ts";
import type { ComparedAction } from "#api/action-comparison.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestKey } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { originOfExecution } from "#execution/execution-standing.store.ts";
import { type ExecutionView, readExecutions } from "#execution/read-executions.store.ts";
import { endsOnBranch } from "#graphs/failures.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { lastRunOf, type PastRun, runOfExecution } from "#graphs/past-runs.store.ts";
import { sinceWhen } from "#graphs/since-when.ts";
import { earlierActions } from "#invocations/compare/earlier-actions.ts";
import { latestRequestOf, type TargetAction } from "#invocations/compare/target-actions.store.ts";

/** What is known of an execution's action before it: of the same job on its branch, or of the same target. */
interface PastActions {
  readonly view: ExecutionView;
  readonly here: ComparedAction;
  readonly lastPassed: ComparedAction | undefined;
  /** The first failure after `lastPassed`: possibly this execution. */
  readonly firstFailed: ComparedAction;
  /** The same action succeeded before. */
  readonly flaky: boolean;
}

interface Services {
  readonly db: Db;
  readonly blobsOf: (project: string) => BlobStore;
}

/**
 * Returns an execution with the earlier ones of its kind; undefined when there is no such execution.
 *
 * @param mayRead whether the caller may read what lies at a place: other places are as if they did not exist
 */
export async function pastActions(
  { db, blobsOf }: Services,
  id: ExecutionId,
  mayRead: (where: Where) => boolean,
): Promise<PastActions | undefined> {
  const [[view], origin] = await Promise.all([readExecutions(db, [id]), originOfExecution(db, id)]);
  if (view === undefined || origin === undefined) return undefined;
  const run = await runOfExecution(db, id, origin.invocation);
  if (run !== undefined && mayRead(run)) return pastOfRun(db, view, run);
  const request = await latestRequestOf(db, id);
  const isReadable = request !== undefined && mayRead({ repository: request.project, branch: "" });
  const here = {
    actionDigest: digestKey(view.actionDigest),
    executionId: id,
    outcome: view.finished?.outcome ?? null,
    worker: workerOf(view),
    at: view.queuedAt.toISOString(),
    job: null,
    request: isReadable ? requestPart(request) : null,
  };
  if (!isReadable) return { view, here, lastPassed: undefined, firstFailed: here, flaky: false };
  const earlier = await earlierActions(db, blobsOf(view.project), request);
  const passedAt = earlier.findIndex(({ outcome }) => outcome === "succeeded");
  const first = earlier[(passedAt === -1 ? earlier.length : passedAt) - 1];
  const passed = earlier[passedAt];
  return {
    view,
    here,
    lastPassed: passed && comparedRequest(passed),
    firstFailed: first === undefined ? here : comparedRequest(first),
    flaky: earlier.some(
      ({ actionDigest, outcome }) => actionDigest === here.actionDigest && outcome === "succeeded",
    ),
  };
}

async function pastOfRun(db: Db, view: ExecutionView, run: PastRun): Promise<PastActions> {
  const here = { ...comparedRun(run), worker: workerOf(view) ?? run.worker };
  const since = sinceWhen(await endsOnBranch(db, GraphId.parse(run.graph), run.job));
  const inGraph = async (graph: string | undefined, state: "succeeded" | "failed") =>
    graph === undefined ? undefined : lastRunOf(db, GraphId.parse(graph), run.job, state);
  const passed = await inGraph(since?.lastPassed?.id, "succeeded");
  const failed = await inGraph(since?.firstFailed.id, "failed");
  return {
    view,
    here,
    lastPassed: passed && comparedRun(passed),
    firstFailed: failed === undefined ? here : comparedRun(failed),
    flaky: passed?.actionDigest === run.actionDigest,
  };
}

function workerOf({ finished, state }: ExecutionView): string | null {
  if (state.kind === "leased") return state.worker;
  return finished?.worker ?? null;
}

function comparedRun({ queuedAt, graph, job, run, commit, ...rest }: PastRun): ComparedAction {
  const { actionDigest, executionId, outcome, worker } = rest;
  return {
    actionDigest,
    executionId,
    outcome,
    worker,
    at: queuedAt.toISOString(),
    job: { graph, name: job, run, commit },
    request: null,
  };
}

function comparedRequest(action: TargetAction): ComparedAction {
  const { actionDigest, executionId, outcome, worker, requestedAt } = action;
  return {
    actionDigest,
    executionId,
    outcome,
    worker,
    at: requestedAt.toISOString(),
    job: null,
    request: requestPart(action),
  };
}

function requestPart({ project, invocation, target, mnemonic }: TargetAction) {
  return { project, invocation, target, mnemonic };
}
