import { randomUUID } from "node:crypto";
import type { Principal } from "#access/principal.ts";
import { requireGrant, requireGrantSomewhere } from "#access/require-grant.ts";
import type { GraphSummary, RunCause, SubmitGraph } from "#api/graph.ts";
import { Fault } from "#core/fault.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { addSubmodules, markSubmodules } from "./add-submodules.ts";
import { beginGraph } from "./advancing/begin-graph.ts";
import type { GraphPart } from "./advancing/graph-part.ts";
import { type AuditEntry, recordAudit } from "./audit.store.ts";
import { admitCatalog, templatesToSign } from "./catalogs/admit-catalog.ts";
import { branchDefinition } from "./catalogs/branch-definition.store.ts";
import type { CatalogCache } from "./catalogs/catalog-cache.ts";
import { pointBranchAt } from "./catalogs/catalog-source.store.ts";
import { chosenValues } from "./catalogs/chosen-values.ts";
import { graphDefinitions, wantedOf, withPlaces } from "./catalogs/graph-definitions.ts";
import { holdGraphToCost, holdJobsToLimits } from "./catalogs/hold-to-limits.ts";
import type { CommitInputReader } from "./commit-inputs.ts";
import { fillTemplates } from "./definitions/fill-templates.ts";
import type { TemplateEvaluator } from "./definitions/template-evaluator.ts";
import { domainOfCommit, type WitnessServices } from "./domain-of-commit.ts";
import { graphTtlMs } from "./expiry/graph-ttl.ts";
import { type GraphParent, insertGraph, keepCatalog } from "./graph.store.ts";
import { GraphId } from "./graph-id.ts";
import { graphSummary } from "./graph-summary.store.ts";
import { plan } from "./plan.ts";
import { type OutsiderRules, planForOutsiders } from "./plan-for-outsiders.ts";
import { refreshStatistics } from "./refresh-statistics.store.ts";
import { nameRepository } from "./repository.store.ts";
import { type RepositoryAccess, requireMayReadDefinitions } from "./repository-access.ts";
import { setDefinitions } from "./reruns/customise.store.ts";
import { patchesAtSubmission } from "./reruns/patches-at-submission.ts";
import { resolveSources } from "./resolve-sources.ts";
import { joinSet } from "./sets/join-set.ts";
import type { SubmittedChoice } from "./submitted-choice.ts";

export interface SubmissionServices extends WitnessServices {
  readonly db: Db;
  readonly access: RepositoryAccess;
  readonly inputs: CommitInputReader;
  readonly evaluator: TemplateEvaluator;
  readonly cache: CatalogCache;
}

export interface SubmissionAnswer {
  readonly graph: GraphSummary;
  readonly isNew: boolean;
  /** That less was given than asked for, and why. */
  readonly notice?: string | undefined;
}

/** Of a graph that something else is the reason for: its set, where it comes from, why its jobs run first. */
export interface GraphOrigin {
  /**
   * In full, the ref by which the farm itself found the commit: `refs/heads/main`, `refs/pull/7/head`. From
   * it follows the trust domain; no request names it.
   */
  readonly ref?: string;
  /** What its definitions may ask for, when somebody wrote them who may not write in the repository. */
  readonly outsiders?: OutsiderRules;
  readonly set?: GraphId;
  readonly parent?: GraphParent;
  readonly cause?: RunCause;
}

/**
 * Plans the graph of a commit, and stores it; it then runs by itself.
 *
 * A request that names an id which is there already is answered with that graph.
 * Throws `DefinitionProblems`, what fetching the commit throws, and `permission_denied` for what
 * the principal or the branch does not allow.
 */
export async function submitGraph(
  services: SubmissionServices,
  request: SubmitGraph,
  by: Principal,
  origin: GraphOrigin = {},
): Promise<SubmissionAnswer> {
  const { db } = services;
  // Who may submit nowhere does not make the farm fetch anything.
  requireGrantSomewhere(by, "submit");
  const id = GraphId.parse(request.id ?? randomUUID());
  const known = request.id === undefined ? undefined : await graphSummary(db, id);
  if (known !== undefined) return { graph: known, isNew: false };

  const rev = request.rev ?? "HEAD";
  await services.access.requireMayRead(by, request.repository);
  const address = (await services.wayIn?.(request.repository, by)) ?? request.repository;
  const commit = await services.mirrors.fetchCommit(address, rev);
  const place = { url: commit.repository, sha: commit.sha };
  services.inputs.know(place, commit.mirror);
  const branch = request.branch ?? commit.branch ?? "";
  const repository = await db.transaction(async (tx) => {
    const name = await nameRepository(tx, commit.repository);
    // In the same transaction: who is refused must not take the name that another repository needs.
    requireGrant(by, "submit", { repository: name, branch });
    return name;
  });
  const where = { repository, branch };
  const wanted = { commit, address, repository, branch, ref: origin.ref, by };
  const domain = await domainOfCommit(services, wanted);
  // Whoever says what is read on the server's machine defines more than a graph.
  if (request.definitionsFrom?.kind === "directory") requireGrant(by, "define", where);
  await requireMayReadDefinitions(services.access, by, request.definitionsFrom);
  const said = await branchDefinition(db, repository, branch);
  const isOfOutsiders = origin.outsiders !== undefined;
  const from = await graphDefinitions(
    services,
    { ...where, said, commit, by, isOfOutsiders },
    request,
  );
  const { sha, subject, committedAt } = commit;
  const author = commit.author.name;
  const context = { repository, commit: { sha, subject, author, committedAt }, rev, branch };
  const submissions = wantedOf(request, said);
  const { definitions, planned } = await withPlaces(from, async (templates) => {
    const filled = await fillTemplates(templates, submissions, context, services.evaluator);
    return {
      definitions: filled,
      planned:
        origin.outsiders === undefined
          ? await plan(
              await resolveSources(services, await addSubmodules(services, filled, place, by), by),
              request.select,
            )
          : await planForOutsiders(
              await markSubmodules(services, filled, place),
              request.select,
              origin.outsiders,
            ),
    };
  });
  const patches = patchesAtSubmission(planned.catalog, request.patches);
  const { entries } = planned.catalog;
  holdJobsToLimits(by, "submit", where, entries);
  const patched = patches.map(({ job, entry }) => ({ name: job, definition: entry.definition }));
  holdJobsToLimits(by, "submit", where, patched);
  await holdGraphToCost(db, by, "submit", where, entries);
  const begun = causedBy(origin.cause ?? "first", await beginGraph(planned));

  // For itself: what is refused below, because nobody has signed it, must be there to be signed.
  await db.transaction(async (tx) => {
    await from.keep(tx);
    await keepCatalog(tx, planned.catalog);
  });
  const answer = await db.transaction(async (tx) => {
    const top = request.top ?? false;
    const { priority, cap, notice } = await admitCatalog(
      tx,
      planned.catalog,
      { requestedPriority: request.priority, top, principal: by, where },
      patches.length > 0,
      // Jobs of another graph are signed as what they are, and not as templates.
      from.holds === "jobs"
        ? undefined
        : {
            templates: templatesToSign(from.catalog),
            chosen: chosenValues(from.templates, submissions),
          },
    );
    const set = request.set === undefined ? origin.set : await joinSet(tx, request.set, id, by);
    const isNew = await insertGraph(tx, {
      begun,
      id,
      branch,
      switches: definitions.switches,
      choice: choiceOf(request),
      priority,
      priorityCap: cap,
      top,
      submittedBy: by.name,
      repository,
      rev,
      subject,
      author,
      committedAt,
      commit: sha,
      catalog: planned.catalog,
      templateCatalog: from.holds === "jobs" ? null : from.catalog.digest,
      definitionsTree: from.tree,
      outsiders: origin.outsiders,
      parameters: definitions.parameters,
      domain,
      skipCache: request.skipCache ?? false,
      ttlMs: graphTtlMs(request.ttl),
      set,
      parent: origin.parent,
    });
    if (isNew) await setDefinitions(tx, id, patches);
    if (isNew && origin.cause === undefined)
      await recordAudit(tx, auditOf(request, { graphId: id, branch, by }));
    // A search goes through the past; what it reads there is not what the branch says now.
    // Nor is what came from outside, whatever branch it was submitted for.
    const isOfBranch = branch !== "" && domain === protectedDomain;
    if (from.isOfCommit && isOfBranch && origin.cause === undefined) {
      const { digest } = from.catalog;
      await pointBranchAt(tx, { ...where, catalog: digest, commit: sha, setBy: by.name });
    }
    const graph = await graphSummary(tx, id);
    if (graph === undefined) throw new Fault("internal", `graph ${id} was not stored`);
    return { graph, isNew, notice };
  });
  if (answer.isNew) refreshStatistics(db, begun.jobs.length);
  return answer;
}

function choiceOf({ graph, select, parameters = {}, switches = {} }: SubmitGraph): SubmittedChoice {
  return { named: graph ?? null, selection: select ?? null, given: { parameters, switches } };
}

/** Of what was given, the names: values are kept with the graph, and patches with their jobs. */
function auditOf(
  { rev, parameters = {}, switches = {}, patches = {}, definitions, ...request }: SubmitGraph,
  { graphId, branch, by }: { graphId: GraphId; branch: string; by: Principal },
): AuditEntry {
  const given = [...Object.keys(parameters), ...Object.keys(switches)].toSorted();
  const from = definitions === undefined ? request.definitionsFrom : { kind: "sent along" };
  return {
    actor: by.name,
    verb: "submit",
    graphId,
    detail: { rev, branch, given, from, catalog: request.catalog, jobs: Object.keys(patches) },
  };
}

/** The same beginning; the runs that it wants say why they are. */
function causedBy(cause: RunCause, { jobs, edges }: GraphPart): GraphPart {
  return {
    edges,
    jobs: jobs.map((job) => (job.wanted === null ? job : { ...job, wanted: cause })),
  };
}
