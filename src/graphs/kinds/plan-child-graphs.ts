import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { grantsOf } from "#access/grant.store.ts";
import { everybody, type Principal } from "#access/principal.ts";
import { isOver } from "#api/job-state.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { Catalog } from "#definitions/catalog.ts";
import { addSubmodules } from "../add-submodules.ts";
import { advanceStoredGraph, lockGraphs } from "../advancing/advance.store.ts";
import { beginGraph } from "../advancing/begin-graph.ts";
import { admitCatalog } from "../catalogs/admit-catalog.ts";
import { holdJobsToLimits } from "../catalogs/hold-to-limits.ts";
import { keepTemplates } from "../catalogs/template-catalog.store.ts";
import { insertGraph, keepCatalog } from "../graph.store.ts";
import { GraphId } from "../graph-id.ts";
import { plan } from "../plan.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import { resolveSources } from "../resolve-sources.ts";
import {
  keepChild,
  planLater,
  type RunToPlan,
  sizeOfFamily,
  stillToPlan,
  takeRunsToPlan,
} from "./child-graph.store.ts";
import { type ChildDefinitionServices, definitionsOfChild } from "./definitions-of-child.ts";
import { finishServerJobs } from "./server-job.store.ts";
import { succeeded } from "./server-job-end.ts";

export type ChildGraphServices = ChildDefinitionServices &
  Parameters<typeof resolveSources>[0] & { readonly logger: Logger };

/** The nesting limit of graphs: enough for real definitions, and it stops endless recursion. */
const deepest = 4;
/** The limit for jobs of a submitted graph together with all graphs that its jobs make. */
const mostJobs = 50_000;
const mostPerTurn = 4;
/** After this time, other servers take over from a dead one. */
const turnMs = 60_000;
const pauseMs = 5_000;

/** Plans and stores the graphs of runs whose definitions are ready. Returns the number of examined runs. */
export async function planChildGraphs(services: ChildGraphServices, now: Date): Promise<number> {
  const until = new Date(now.getTime() + turnMs);
  const taken = await takeRunsToPlan(services.db, now, until, mostPerTurn);
  for (const run of taken) await planOne(services, run, now);
  return taken.length;
}

async function planOne(services: ChildGraphServices, run: RunToPlan, now: Date): Promise<void> {
  try {
    await storeChild(services, run);
  } catch (reason) {
    if (isOfTheJob(reason)) return fail(services, run, messageOf(reason));
    const { graphId: graph, job } = run;
    services.logger.warn(
      { graph, job, reason: messageOf(reason) },
      "a job's graph could not be planned; trying again",
    );
    await planLater(services.db, run, new Date(now.getTime() + pauseMs));
  }
}

async function storeChild(services: ChildGraphServices, run: RunToPlan): Promise<void> {
  const { definitions, templates } = await definitionsOfChild(services, run);
  const submitter = await submitterOf(services.db, run);
  const commit = { url: run.url, sha: CommitSha.parse(run.commit) };
  const withSubmodules = await addSubmodules(services, definitions, commit, submitter);
  const planned = await plan(await resolveSources(services, withSubmodules, submitter));
  const begun = await beginGraph(planned);
  const child = GraphId.parse(randomUUID());
  await services.db.transaction(async (tx) => {
    if (templates !== undefined) await keepTemplates(tx, templates);
    await keepCatalog(tx, planned.catalog);
  });
  await services.db.transaction(async (tx) => {
    const size = await sizeOfFamily(tx, run.graphId, run.set);
    refuseWhatNeverEnds(size, begun.jobs.length);
    await lockGraphs(tx, [run.graphId]);
    if (!(await stillToPlan(tx, run))) return;
    await admit(tx, run, planned.catalog);
    await insertGraph(tx, {
      ...run,
      id: child,
      parent: { kind: "subgraph", id: run.graphId, job: run.job },
      switches: definitions.switches,
      choice: { named: run.definition.graph ?? null, selection: null, given: null },
      catalog: planned.catalog,
      templateCatalog: templates?.digest,
      parameters: definitions.parameters,
      begun,
    });
    await keepChild(tx, run, child);
    // A graph that has only joins has ended at its beginning, and no later event reports that.
    const [first] = begun.jobs;
    if (first === undefined || !begun.jobs.every(({ state }) => isOver(state))) return;
    const [graph] = await lockGraphs(tx, [child]);
    if (graph !== undefined) await advanceStoredGraph(tx, graph, [first.name]);
  });
}

/**
 * Definitions that are inside the parent's definitions, or named by them, are signed with them; definitions that
 * commands have written must be signed separately.
 */
async function admit(
  tx: Parameters<typeof admitCatalog>[0],
  run: RunToPlan,
  catalog: Catalog,
): Promise<void> {
  const { repository, branch } = run;
  // The submitter of the first graph limits what all graphs below it may require.
  const submitter = await submitterOf(tx, run);
  holdJobsToLimits(submitter, "submit", { repository, branch }, catalog.entries);
  const { definitions, graph } = run.definition;
  if (definitions !== undefined || graph !== undefined || run.definition.catalog !== undefined)
    return;
  // Priority and class are those of the parent, and were admitted with it.
  await admitCatalog(tx, catalog, {
    requestedPriority: undefined,
    top: false,
    principal: everybody,
    where: { repository, branch },
  });
}

/** Returns the submitter of the first graph, with the current rights. */
async function submitterOf(tx: Tx, { submittedBy }: RunToPlan): Promise<Principal> {
  return { name: submittedBy, grants: await grantsOf(tx, submittedBy) };
}

function refuseWhatNeverEnds(
  { depth, jobs }: { readonly depth: number; readonly jobs: number },
  more: number,
): void {
  if (depth >= deepest) {
    throw new Fault("failed_precondition", `graphs of graphs may be at most ${deepest} deep`);
  }
  if (jobs + more > mostJobs) {
    throw new Fault(
      "failed_precondition",
      `its graph has ${more} jobs; with the ${jobs} of the graphs that it belongs to, that is more than ${mostJobs}`,
    );
  }
}

function isOfTheJob(reason: unknown): boolean {
  if (!(reason instanceof Fault)) return false;
  return [
    "invalid_argument",
    "not_found",
    "failed_precondition",
    "out_of_range",
    "permission_denied",
    "resource_exhausted",
  ].includes(reason.code);
}

async function fail({ db }: ChildGraphServices, run: RunToPlan, message: string): Promise<void> {
  await db.transaction(async (tx) => {
    const graphs = await lockGraphs(tx, [run.graphId]);
    const { graphId, job } = run;
    const end = { ...succeeded, outcome: "failed" as const, message: message.slice(0, 4_000) };
    const ended = await finishServerJobs(tx, [{ ...end, graphId, job, run: run.run }]);
    await passOnEndedRuns(tx, graphs, ended);
  });
}
