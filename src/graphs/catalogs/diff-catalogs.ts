import { placesOf, reachesRepository } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { CatalogDiff } from "#api/catalog.ts";
import type { SwitchValues } from "#api/graph-choice.ts";
import { Fault } from "#core/fault.ts";
import { defaultValueOf } from "#definitions/switch-values.ts";
import { branchDefinition, definedBranches } from "./branch-definition.store.ts";
import { resolveBranch } from "./branch-definition.ts";
import { catalogDiff, differsInExpressions, type FilledSides } from "./catalog-diff.ts";
import { branchCatalog } from "./catalog-source.store.ts";
import { filledJobs } from "./filled-jobs.ts";
import { type CatalogServices, findCatalog, graphDefinitions } from "./graph-definitions.ts";
import { addressOfRepository, requireVisibleRepository } from "./known-repository.store.ts";
import { definitionsOfBranch } from "./next-definitions.ts";
import { findCatalogs } from "./template-catalog.store.ts";
import { type TemplateCatalog, templatesOf } from "./template-catalog.ts";

interface Side {
  readonly written: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly catalog: TemplateCatalog;
}

/**
 * Compares two catalogs, each written as a digest (or its beginning), a branch, or a revision.
 *
 * A branch means the definitions that its next submission will use. Branches and revisions are of `repository`, or of
 * another one as `REPOSITORY@BRANCH`. Throws `not_found` for what the caller may not know of, and `permission_denied`
 * for a revision, which has to be fetched, when the caller may not submit there.
 */
export async function diffCatalogs(
  services: CatalogServices,
  a: string,
  b: string,
  repository: string | undefined,
  by: Principal,
): Promise<CatalogDiff> {
  const before = await sideOf(services, a, repository, by);
  const after = await sideOf(services, b, repository, by);
  const filled = differsInExpressions(before.catalog, after.catalog)
    ? await filledSides(services, before, after)
    : undefined;
  return {
    a: shown(before),
    b: shown(after),
    ...catalogDiff(before.catalog, after.catalog, filled),
    switchValues: await changedValues(services, before, after),
  };
}

/**
 * Returns the jobs of both sides, each with its branch's values; a side without a branch gets the values of the other.
 */
async function filledSides(
  { db, evaluator }: CatalogServices,
  before: Side,
  after: Side,
): Promise<FilledSides | undefined> {
  const placeOf = async (side: Side, other: Side) => {
    const of = side.branch === null ? other : side;
    const { repository, branch } = { repository: of.repository ?? "", branch: of.branch ?? "" };
    const rules =
      repository === ""
        ? resolveBranch(undefined, undefined)
        : await branchDefinition(db, repository, branch);
    return { repository, branch, said: rules };
  };
  const was = await filledJobs(evaluator, before.catalog, await placeOf(before, after));
  const is = await filledJobs(evaluator, after.catalog, await placeOf(after, before));
  return was === undefined || is === undefined ? undefined : { before: was, after: is };
}

function shown({ written, repository, branch, catalog }: Side): CatalogDiff["a"] {
  return { written, repository, branch, digest: catalog.digest };
}

async function sideOf(
  services: CatalogServices,
  written: string,
  usualRepository: string | undefined,
  by: Principal,
): Promise<Side> {
  const { db, cache } = services;
  const places = placesOf(by, ["read-sources"]);
  if ((await findCatalogs(db, written, places)).length > 0) {
    const catalog = await cache.get(db, (await findCatalog(db, written, places)).digest);
    return { written, repository: null, branch: null, catalog };
  }
  const at = written.lastIndexOf("@");
  const named = at > 0 ? written.slice(0, at) : usualRepository;
  const rev = at > 0 ? written.slice(at + 1) : written;
  if (named === undefined) {
    throw new Fault(
      "not_found",
      `there is no catalog ${written}; for a branch or a revision, name the repository: REPOSITORY@${written}`,
    );
  }
  const repository = await requireVisibleRepository(db, named, (name) =>
    reachesRepository(places, name),
  );
  requireGrant(by, "read-sources", { repository, branch: rev });
  const branch = await catalogOfBranch(services, repository, rev, by);
  if (branch !== undefined) return { written, repository, branch: rev, catalog: branch };
  const address = await addressOfRepository(db, repository);
  await services.access.requireMayRead(by, address);
  const commit = await services.mirrors.fetchCommit(address, rev);
  const rules = resolveBranch(undefined, undefined);
  const place = { repository, branch: commit.branch ?? "", said: rules, commit, by };
  const from = await graphDefinitions(services, place, {});
  await db.transaction((tx) => from.keep(tx));
  return { written, repository, branch: commit.branch ?? null, catalog: from.catalog };
}

/**
 * Returns the catalog that the next submission for a branch will use; undefined when the farm has no branch of this
 * name.
 *
 * If a branch's commits contain the definitions, and nothing newer can be fetched (the branch was deleted, or the
 * principal may not make the farm fetch), this is the catalog of the last graph.
 */
async function catalogOfBranch(
  services: CatalogServices,
  repository: string,
  branch: string,
  by: Principal,
): Promise<TemplateCatalog | undefined> {
  const { db, cache } = services;
  const last = await branchCatalog(db, repository, branch);
  if (last === undefined && !(await definedBranches(db, repository)).includes(branch))
    return undefined;
  const rules = await branchDefinition(db, repository, branch);
  try {
    return (await definitionsOfBranch(services, { repository, branch, said: rules }, by)).catalog;
  } catch (reason) {
    const isKnown = rules.source.kind === "commit" && last?.commit !== null && last !== undefined;
    if (!(reason instanceof Fault) || !isKnown) throw reason;
    return cache.get(db, last.catalog);
  }
}

/** Returns the switches that differ between two branches, by their entries. */
async function changedValues(
  services: CatalogServices,
  before: Side,
  after: Side,
): Promise<CatalogDiff["switchValues"]> {
  const [was, is] = [await valuesOn(services, before), await valuesOn(services, after)];
  if (was === undefined || is === undefined) return [];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].toSorted().flatMap((name) => {
    const change = { name, before: was[name] ?? null, after: is[name] ?? null };
    return change.before === change.after ? [] : [change];
  });
}

async function valuesOn(
  { db }: CatalogServices,
  { repository, branch, catalog }: Side,
): Promise<SwitchValues | undefined> {
  if (repository === null || branch === null) return undefined;
  const { switches } = await branchDefinition(db, repository, branch);
  return Object.fromEntries(
    [...templatesOf(catalog).switches].map(([name, { declaration }]) => [
      name,
      switches[name] ?? defaultValueOf(declaration),
    ]),
  );
}
