import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { Customise, CustomisedJob, PlannedChange } from "#api/rerun.ts";
import { Fault } from "#core/fault.ts";
import { showableDefinition } from "#core/hide-secrets.ts";
import type { Tx } from "#db/db.ts";
import { DefinitionDigest } from "#definitions/catalog.ts";
import { advanceStoredGraph, lockGraphs } from "../advancing/advance.store.ts";
import { branchDefinition } from "../catalogs/branch-definition.store.ts";
import { holdJobsToLimits } from "../catalogs/hold-to-limits.ts";
import { refusedPatch } from "../catalogs/may-run-on-branch.ts";
import type { GraphId } from "../graph-id.ts";
import { type ChangeServices, changeGraphsIn } from "./change-graphs.ts";
import {
  type CustomisableJob,
  customisableJob,
  dependentsOf,
  type NewDefinition,
  setDefinitions,
} from "./customise.store.ts";
import { definitionChanges } from "./definition-changes.ts";
import { assertMakesWhatIsTaken, jsonOf, patchedDefinition } from "./patched-definition.ts";
import { planRerun } from "./plan-rerun.ts";
import { requireLatestRevision } from "./require-latest-revision.ts";

/**
 * Changes a job's definition for its graph only, or undoes that; or returns what would change.
 *
 * A job is customised exactly when it has a patch. Undefined when there is no such graph or job.
 */
export function customise(
  services: ChangeServices,
  graphId: GraphId,
  request: z.output<typeof Customise>,
  by: Principal,
): Promise<CustomisedJob | undefined> {
  return services.db.transaction(async (tx) => {
    // A preview must not block other work, so it takes no lock.
    const [graph] = request.dryRun ? [] : await lockGraphs(tx, [graphId]);
    const job = await customisableJob(tx, graphId, request.job);
    if (job === undefined) return undefined;
    await assertAllowed(tx, request, job, by);
    await requireLatestRevision(tx, graphId, request, job);
    assertNotUnderWay(request, job);
    const change = newDefinition(request, job);
    const { definition } = change.entry;
    holdJobsToLimits(by, "customise", job, [{ name: request.job, definition }]);
    assertMakesWhatIsTaken(request.job, definition, await dependentsOf(tx, graphId, request.job));
    if (graph !== undefined) {
      await setDefinitions(tx, graphId, [change]);
      const { patch, reason } = request;
      const detail = { patch: showableDefinition(patch) };
      const entry = { actor: by.name, graphId, job: request.job, detail, reason };
      await recordAudit(tx, { verb: "customise", ...entry });
      await advanceStoredGraph(tx, graph, [request.job]);
    }
    return {
      applied: !request.dryRun,
      graph: graphId,
      job: request.job,
      patch: showableDefinition(change.patch),
      revision: request.dryRun ? job.revision : job.revision + 1,
      changes: definitionChanges(jsonOf(job.template), jsonOf(definition)),
      definition: showableDefinition(definition),
      rerun: request.retrigger ? await rerun(tx, services, graphId, request, by) : null,
    };
  });
}

async function assertAllowed(
  tx: Tx,
  { patch }: z.output<typeof Customise>,
  job: CustomisableJob,
  by: Principal,
): Promise<void> {
  requireGrant(by, "customise", job);
  // A customisation can be undone even when the branch no longer allows customising.
  const branch = await branchDefinition(tx, job.repository, job.branch);
  const refusal =
    patch === null
      ? undefined
      : refusedPatch({ branch, customised: true, principal: by, where: job });
  if (refusal !== undefined) throw new Fault("permission_denied", refusal);
}

function assertNotUnderWay(
  { job: name, retrigger }: z.output<typeof Customise>,
  job: CustomisableJob,
): void {
  const { state, runs, isWanted } = job;
  if (state === "queued" || state === "waiting" || state === "running") {
    throw new Fault(
      "failed_precondition",
      `${name} is ${state}: cancel it, and customise it together with a retrigger`,
    );
  }
  if (runs > 0 && !isWanted && !retrigger) {
    throw new Fault(
      "failed_precondition",
      `${name} has run already: customise it together with a retrigger`,
    );
  }
}

function newDefinition(
  { job: name, patch }: z.output<typeof Customise>,
  { template, templateDigest, definition }: CustomisableJob,
): NewDefinition {
  const entry =
    patch === null || Object.keys(patch).length === 0
      ? { digest: DefinitionDigest.parse(templateDigest), definition: template }
      : patchedDefinition(name, template, patch);
  return {
    job: name,
    templateDigest,
    // A patch without effect counts as no patch.
    patch: entry.digest === templateDigest ? null : patch,
    entry,
    hasOtherTtl: entry.definition.ttl !== definition.ttl,
  };
}

async function rerun(
  tx: Tx,
  { pricePerWorkerMinute }: ChangeServices,
  graphId: GraphId,
  { job, patch, dryRun, reason }: z.output<typeof Customise>,
  by: Principal,
): Promise<PlannedChange | null> {
  const change = await changeGraphsIn(tx, pricePerWorkerMinute, {
    graphId,
    wholeSet: false,
    verb: "retrigger",
    by,
    dryRun,
    reason,
    detail: { customised: true },
    uncustomises: patch === null ? [job] : [],
    plan: (graphs) =>
      graphs.map((graph) =>
        planRerun(graph, new Set([job]), { mode: "revive", onlyStale: false, times: 1 }),
      ),
    whyOf: () => `customised by ${by.name}`,
  });
  return change ?? null;
}
