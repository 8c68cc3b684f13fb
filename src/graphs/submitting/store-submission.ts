import { type AuditEntry, recordAudit } from "#access/audit.store.ts";
import type { GraphSummary } from "#api/graph.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import { Fault } from "#core/fault.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db, Tx } from "#db/db.ts";
import { admitCatalog, templatesToSign } from "../catalogs/admit-catalog.ts";
import { pointBranchAt } from "../catalogs/catalog-source.store.ts";
import { chosenValues } from "../catalogs/chosen-values.ts";
import { graphTtlMs } from "../expiry/graph-ttl.ts";
import { insertGraph, keepCatalog } from "../graph.store.ts";
import { insertGraphSpan } from "../graph-span.store.ts";
import { graphSummary } from "../graph-summary.store.ts";
import { refreshStatistics } from "../refresh-statistics.store.ts";
import { setDefinitions } from "../reruns/customise.store.ts";
import { joinSet } from "../sets/join-set.ts";
import type { SubmittedChoice } from "../submitted-choice.ts";
import type { PlannedSubmission } from "./plan-submission.ts";

export interface StoredSubmission {
  readonly graph: GraphSummary;
  readonly isNew: boolean;
  /** States that the priority was lowered, and why. */
  readonly notice?: string | undefined;
}

/**
 * Stores the graph; it then runs.
 *
 * Throws `permission_denied` for what the branch does not allow, such as unsigned definitions.
 */
export async function storeSubmission(
  db: Db,
  submission: PlannedSubmission,
): Promise<StoredSubmission> {
  // In a transaction of its own: a catalog that is refused below for lack of a signature must exist to be signed.
  await db.transaction(async (tx) => {
    await submission.from.keep(tx);
    await keepCatalog(tx, submission.plan.catalog);
  });
  const stored = await db.transaction((tx) => storeIn(tx, submission));
  if (stored.isNew) refreshStatistics(db, submission.begun.jobs.length);
  return stored;
}

async function storeIn(tx: Tx, submission: PlannedSubmission): Promise<StoredSubmission> {
  const { id, request, by, origin, where, commit, from, definitions, patches } = submission;
  const { catalog } = submission.plan;
  const top = request.top ?? false;
  const { priority, cap, notice } = await admitCatalog(
    tx,
    catalog,
    { requestedPriority: request.priority, top, principal: by, where },
    patches.length > 0,
    // Jobs of another graph are signed as jobs, not as templates.
    from.holds === "jobs"
      ? undefined
      : {
          templates: templatesToSign(from.catalog),
          chosen: chosenValues(from.templates, submission.values),
        },
  );
  const set = request.set === undefined ? origin.set : await joinSet(tx, request.set, id, by);
  const isNew = await insertGraph(tx, {
    ...where,
    begun: submission.begun,
    id,
    switches: definitions.switches,
    choice: choiceOf(request),
    priority,
    priorityCap: cap,
    top,
    submittedBy: by.name,
    rev: submission.rev,
    subject: commit.subject,
    author: commit.author.name,
    committedAt: commit.committedAt,
    commit: commit.sha,
    catalog,
    templateCatalog: from.holds === "jobs" ? null : from.catalog.digest,
    definitionsTree: from.tree,
    outsiders: origin.outsiders,
    parameters: definitions.parameters,
    domain: submission.domain,
    skipCache: request.skipCache ?? false,
    ttlMs: graphTtlMs(request.ttl),
    set,
    parent: origin.parent,
  });
  if (isNew) await setDefinitions(tx, id, patches);
  const { trace } = submission;
  if (isNew && trace !== undefined) await insertGraphSpan(tx, id, trace.place, trace.startedAt);
  if (isNew && origin.cause === undefined) await recordAudit(tx, auditOf(submission));
  await pointBranch(tx, submission);
  const graph = await graphSummary(tx, id);
  if (graph === undefined) throw new Fault("internal", `graph ${id} was not stored`);
  return { graph, isNew, notice };
}

/**
 * Makes the branch use the commit's own definitions from now on.
 *
 * A search reads old commits, whose definitions are not the present ones of the branch. Neither are definitions of
 * outsiders, whatever branch they were submitted for.
 */
async function pointBranch(
  tx: Tx,
  { from, where, domain, origin, commit, by }: PlannedSubmission,
): Promise<void> {
  const isOfBranch = where.branch !== "" && domain === protectedDomain;
  if (!from.isOfCommit || !isOfBranch || origin.cause !== undefined) return;
  const { digest } = from.catalog;
  await pointBranchAt(tx, { ...where, catalog: digest, commit: commit.sha, setBy: by.name });
}

function choiceOf({ graph, select, parameters = {}, switches = {} }: SubmitGraph): SubmittedChoice {
  return { named: graph ?? null, selection: select ?? null, given: { parameters, switches } };
}

/** The names of the given values only: values are stored with the graph, and patches with their jobs. */
function auditOf({ id, request, where, by }: PlannedSubmission): AuditEntry {
  const { rev, parameters = {}, switches = {}, patches = {}, definitions } = request;
  const given = [...Object.keys(parameters), ...Object.keys(switches)].toSorted();
  const from = definitions === undefined ? request.definitionsFrom : { kind: "sent along" };
  const { branch } = where;
  return {
    actor: by.name,
    verb: "submit",
    graphId: id,
    detail: { rev, branch, given, from, catalog: request.catalog, jobs: Object.keys(patches) },
  };
}
