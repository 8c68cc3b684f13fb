import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { priorityCapOf } from "#access/priority-cap.ts";
import { requireGrant } from "#access/require-grant.ts";
import { domainOfUser } from "#access/trust-domains/domain-for.ts";
import type { GraphSummary } from "#api/graph.ts";
import type { Clone, ClonedGraph } from "#api/rerun.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db, Tx } from "#db/db.ts";
import { beginGraph } from "../advancing/begin-graph.ts";
import { admitCatalog } from "../catalogs/admit-catalog.ts";
import { branchDefinition } from "../catalogs/branch-definition.store.ts";
import { holdGraphToCost, holdJobsToLimits, isHeldToLimits } from "../catalogs/hold-to-limits.ts";
import { entriesOf } from "../catalogs/signed-catalog.store.ts";
import { storedTemplates } from "../catalogs/stored-templates.ts";
import { insertGraph, keepCatalog } from "../graph.store.ts";
import { GraphId } from "../graph-id.ts";
import { graphSummary } from "../graph-summary.store.ts";
import type { Plan } from "../plan.ts";
import { type OriginalGraph, originalGraph } from "./clone.store.ts";
import { patchesFor, planAgain, portionOf } from "./cloned-plan.ts";
import { compareClones } from "./compare-clones.ts";
import { type NewDefinition, setDefinitions } from "./customise.store.ts";
import type { PresentPlan } from "./plan-today.ts";

interface CloneServices {
  readonly db: Db;
  /**
   * Returns the graph that this commit would have if it were submitted now; throws a `Fault` when it cannot be planned.
   */
  planToday(original: OriginalGraph, by: Principal): Promise<PresentPlan>;
}

/**
 * Makes a new graph that is like another one, as a whole or in part; or returns a preview of it.
 *
 * It copies definitions but no runs: earlier results come from the action cache where the same action would run.
 * Undefined when there is no such graph.
 */
export async function cloneGraph(
  services: CloneServices,
  graphId: GraphId,
  request: z.output<typeof Clone>,
  by: Principal,
): Promise<ClonedGraph | undefined> {
  const original = await services.db.transaction((tx) => originalGraph(tx, graphId));
  if (original === undefined) return undefined;
  requireGrant(by, "clone", original);
  const today = await planTodayIfRequested(services, original, request, by);
  if (request.mode === "today" && today instanceof Fault) throw today;
  const present = today instanceof Fault ? undefined : today;
  const definitions = request.mode === "today" ? present : undefined;
  const whole = definitions?.plan ?? planAgain(original);
  const portion = portionOf(whole, request);
  const names = new Set(portion.catalog.entries.map(({ name }) => name));
  const answer = {
    jobs: [...names],
    differences: compareClones(original, present?.plan).filter(({ job }) => names.has(job)),
    todayProblem: today instanceof Fault ? today.message : null,
  };
  if (request.dryRun) return { applied: false, graph: null, ...answer };
  const patches = patchesFor(request.mode, original.jobs).filter(({ job }) => names.has(job));
  const graph = await storeClone(services.db, original, {
    whole,
    portion,
    patches,
    definitions,
    asked: request,
    by,
  });
  return { applied: true, graph, ...answer };
}

/** Returns the present plan, or why there is none; undefined when it is not requested. */
async function planTodayIfRequested(
  services: CloneServices,
  original: OriginalGraph,
  { mode, dryRun }: z.output<typeof Clone>,
  by: Principal,
): Promise<PresentPlan | Fault | undefined> {
  if (mode !== "today" && !dryRun) return undefined;
  try {
    return await services.planToday(original, by);
  } catch (reason) {
    if (reason instanceof Fault && reason.code !== "internal") return reason;
    throw reason;
  }
}

interface NewClone {
  readonly whole: Plan;
  readonly portion: Plan;
  readonly patches: readonly NewDefinition[];
  /** The definitions, if they are not the original's. */
  readonly definitions: PresentPlan | undefined;
  readonly asked: z.output<typeof Clone>;
  readonly by: Principal;
}

async function storeClone(
  db: Db,
  original: OriginalGraph,
  { whole, portion, patches, definitions, asked, by }: NewClone,
): Promise<GraphSummary> {
  const begun = await beginGraph(portion);
  const id = GraphId.parse(asked.id ?? randomUUID());
  if (definitions !== undefined) {
    await db.transaction(async (tx) => {
      await definitions.keep(tx);
      await keepCatalog(tx, whole.catalog);
    });
  }
  return db.transaction(async (tx) => {
    // The top class is not inherited.
    const top = original.top && priorityCapOf(by, original).top;
    const made = { whole, patches, definitions, by };
    const { priority, cap } = await admitClone(tx, { ...original, top }, made);
    const { mode, reason, ownSet } = asked;
    const { jobs: _jobs, edges: _edges, url: _url, set, ...about } = original;
    const isNew = await insertGraph(tx, {
      ...about,
      id,
      begun,
      domain: domainOfClone(original, by),
      // A part keeps the name of the whole catalog, because the whole was signed and is compared with today's.
      catalog: { ...whole.catalog, entries: portion.catalog.entries },
      templateCatalog: templateCatalogOf(original, definitions),
      definitionsTree:
        definitions === undefined ? original.definitionsTree : definitions.definitionsTree,
      priority,
      priorityCap: cap,
      top,
      submittedBy: by.name,
      set: ownSet ? undefined : set,
      parent: { kind: "clone", id: original.id },
    });
    if (isNew) {
      await setDefinitions(tx, id, patches);
      const detail = { of: original.id, mode };
      await recordAudit(tx, { actor: by.name, verb: "clone", graphId: id, detail, reason });
    }
    const graph = await graphSummary(tx, id);
    if (graph === undefined) throw new Fault("internal", `clone ${id} was not stored`);
    return graph;
  });
}

/** Returns the domain of the original, except that only the user may write into the domain of a user. */
function domainOfClone({ domain }: OriginalGraph, by: Principal): TrustDomain {
  return domain.startsWith("user/") ? domainOfUser(by.name) : domain;
}

async function admitClone(
  tx: Tx,
  original: OriginalGraph,
  { whole, patches, definitions, by }: Omit<NewClone, "portion" | "asked">,
) {
  const { digest } = whole.catalog;
  const templateCatalog = templateCatalogOf(original, definitions);
  // Only a protected branch needs the source of the clone, and reading it takes a while.
  const { repository, branch } = original;
  const { protected: isRequested } = await branchDefinition(tx, repository, branch);
  if (isHeldToLimits(by, "clone", original)) {
    const jobs = await entriesOf(tx, digest);
    const patched = patches.map(({ job, entry }) => ({ name: job, definition: entry.definition }));
    holdJobsToLimits(by, "clone", original, [...jobs, ...patched]);
    await holdGraphToCost(tx, by, "clone", original, jobs);
  }
  const catalog = { digest, entries: isRequested ? await entriesOf(tx, digest) : [] };
  return admitCatalog(
    tx,
    catalog,
    {
      requestedPriority: original.priority,
      top: original.top,
      principal: by,
      where: original,
    },
    patches.length > 0,
    isRequested ? await storedTemplates(tx, { ...original, templateCatalog }) : undefined,
  );
}

function templateCatalogOf(
  { templateCatalog }: OriginalGraph,
  definitions: PresentPlan | undefined,
): string | null {
  return definitions === undefined ? templateCatalog : definitions.templateCatalog;
}
