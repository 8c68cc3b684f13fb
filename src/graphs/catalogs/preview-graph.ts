import { placesOf, reachesRepository } from "#access/places-of.ts";
import { everybody, type Principal } from "#access/principal.ts";
import type { GraphPreview, PreviewGraph } from "#api/preview.ts";
import { Fault } from "#core/fault.ts";
import type { DefinitionContext } from "#definitions/definition-context.ts";
import type { FetchedCommit } from "#git/fetch-commit.ts";
import { domainOfCommit, type WitnessServices } from "../domain-of-commit.ts";
import { projectOfRepository } from "../project-of-repository.store.ts";
import { proposedName } from "../repository.store.ts";
import { requireMayReadDefinitions } from "../repository-access.ts";
import { patchesAtSubmission } from "../reruns/patches-at-submission.ts";
import { expectedDurations } from "../times/expected-durations.store.ts";
import { branchDefinition } from "./branch-definition.store.ts";
import { resolveBranch } from "./branch-definition.ts";
import {
  type CatalogServices,
  type GraphDefinitions,
  graphDefinitions,
  wantedOf,
} from "./graph-definitions.ts";
import { requireVisibleRepository } from "./known-repository.store.ts";
import { knownResults, type ResultServices } from "./known-results.ts";
import { longestWayMs } from "./longest-way.ts";
import { planTemplates } from "./plan-templates.ts";
import { isKept, keepTemplates } from "./template-catalog.store.ts";

export type PreviewServices = CatalogServices & ResultServices & WitnessServices;

/**
 * Returns the content of a graph without running it. Only the definitions that it reads are stored.
 *
 * The source is a commit, the present definitions of a branch, or a catalog; in the last two cases, templates see a
 * commit without a name. Throws the errors that submitting the graph would throw.
 */
export async function previewGraph(
  services: PreviewServices,
  request: PreviewGraph,
  by: Principal = everybody,
): Promise<GraphPreview> {
  const { db } = services;
  if (request.repository !== undefined && request.rev !== undefined) {
    await services.access.requireMayRead(by, request.repository);
  }
  await requireMayReadDefinitions(services.access, by, request.definitionsFrom);
  const address =
    request.repository === undefined
      ? undefined
      : await services.addressWithCredential?.(request.repository, by);
  const commit = await commitOf(services, request, address);
  const repository = await repositoryOf(services, request, commit, by);
  const branch = request.branch ?? commit?.branch ?? "";
  const rules =
    repository === undefined
      ? resolveBranch(undefined, undefined)
      : await branchDefinition(db, repository, branch);
  const place = { repository: repository ?? "", branch, said: rules, commit, by };
  const from = await graphDefinitions(services, place, request);
  const context = contextOf(repository ?? "", branch, request.rev, commit);
  const { definitions, planned } = await planTemplates(
    services,
    from,
    wantedOf(request, rules),
    context,
    request.select,
  );

  if (isReadHere(request)) await keepRead(services, from);

  const patches = patchesAtSubmission(planned.catalog, request.patches);
  const patched = new Map(patches.map(({ job, entry }) => [job, entry]));
  const { digest } = planned.catalog;
  const entries = planned.catalog.entries.map((entry) => ({
    ...entry,
    ...patched.get(entry.name),
  }));
  const expected =
    repository === undefined
      ? new Map<string, number>()
      : await expectedDurations(
          db,
          repository,
          entries.map(({ name }) => name),
        );
  const results =
    commit === undefined
      ? new Map<string, boolean>()
      : await knownResults(services, await placeOf(services, request, commit, place, by), entries);
  const waiting = new Set(planned.edges.map(({ job }) => job));
  const jobs = entries.map(({ name, digest: definition, definition: { kind, tags } }) => ({
    name,
    kind: kind ?? "command",
    state: planned.inactive.has(name)
      ? ("inactive" as const)
      : waiting.has(name)
        ? ("blocked" as const)
        : ("ready" as const),
    tags: tags ?? {},
    definition,
    expectedMs: expected.get(name) ?? null,
    hasResult: results.get(name) ?? null,
  }));
  // A job with a known result takes no time, and neither does an inactive one.
  const durations = new Map(
    jobs.map(({ name, state, expectedMs, hasResult }) => [
      name,
      state === "inactive" || hasResult === true ? 0 : (expectedMs ?? 0),
    ]),
  );
  return {
    repository: repository ?? null,
    branch,
    commit: commit?.sha ?? null,
    catalog: from.catalog.digest,
    rendered: digest,
    parameters: definitions.parameters,
    switches: definitions.switches,
    jobs,
    edges: [...planned.edges],
    expectedMs: [...durations.values()].reduce((sum, ms) => sum + ms, 0),
    criticalPathMs: longestWayMs(durations, planned.edges),
  };
}

/** Returns whether the farm itself must read the definitions from a source that the caller chose. */
function isReadHere({ catalog, definitions }: PreviewGraph): boolean {
  return catalog === undefined && definitions === undefined;
}

/**
 * Stores definitions under their digest, which the answer contains: a submission can name exactly these definitions.
 */
async function keepRead(
  { db, cache }: PreviewServices,
  { catalog, holds }: GraphDefinitions,
): Promise<void> {
  if (holds !== "templates" || (await isKept(db, catalog.digest))) return;
  await db.transaction((tx) => keepTemplates(tx, catalog));
  cache.put(catalog);
}

/** Returns the place where the jobs of its graph would look for results. */
async function placeOf(
  services: PreviewServices,
  request: PreviewGraph,
  commit: FetchedCommit,
  { repository, branch }: { readonly repository: string; readonly branch: string },
  by: Principal,
) {
  const written = request.repository ?? commit.repository;
  const address = (await services.addressWithCredential?.(written, by)) ?? written;
  const domain = await domainOfCommit(services, { commit, address, repository, branch, by });
  const project = await projectOfRepository(services.db, repository);
  return { url: commit.repository, sha: commit.sha, project, domain };
}

async function commitOf(
  services: PreviewServices,
  { repository, rev }: PreviewGraph,
  address = repository,
): Promise<FetchedCommit | undefined> {
  if (rev === undefined) return undefined;
  if (address === undefined)
    throw new Fault("invalid_argument", "name the repository that the revision is of");
  const commit = await services.mirrors.fetchCommit(address, rev);
  services.inputs.know({ url: commit.repository, sha: commit.sha }, commit.mirror);
  return commit;
}

async function repositoryOf(
  { db }: PreviewServices,
  { repository, catalog, definitions }: PreviewGraph,
  commit: FetchedCommit | undefined,
  by: Principal,
): Promise<string | undefined> {
  if (commit !== undefined) return proposedName(db, commit.repository);
  const places = placesOf(by, ["read-sources", "submit"]);
  if (repository !== undefined)
    return requireVisibleRepository(db, repository, (name) => reachesRepository(places, name));
  if (catalog === undefined && definitions === undefined)
    throw new Fault("invalid_argument", "name a repository, or a catalog");
  return undefined;
}

/** Returns the template context; without a commit, its fields are empty. */
function contextOf(
  repository: string,
  branch: string,
  rev: string | undefined,
  commit: FetchedCommit | undefined,
): DefinitionContext {
  return {
    repository,
    branch,
    rev: rev ?? branch,
    commit: {
      sha: commit?.sha ?? "0".repeat(40),
      subject: commit?.subject ?? "",
      author: commit?.author.name ?? "",
      committedAt: commit?.committedAt ?? new Date(0),
    },
  };
}
