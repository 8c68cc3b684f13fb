import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant, requireGrantSomewhere } from "#access/require-grant.ts";
import type { Branch, BranchBody, NextDefinitions, SetBranch } from "#api/branch.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { Switch } from "#definitions/definition-file.ts";
import { readSwitchValues } from "#definitions/switch-values.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { requireMayReadDefinitions } from "../repository-access.ts";
import {
  branchHistory,
  definedBranches,
  saidOfBranch,
  setBranchDefinition,
} from "./branch-definition.store.ts";
import { allBranches, resolveBranch } from "./branch-definition.ts";
import { branchCatalog, branchCatalogs } from "./catalog-source.store.ts";
import type { CatalogServices } from "./graph-definitions.ts";
import { repositoryFor, requireRepository } from "./known-repository.store.ts";
import { lastDefinitions, nextDefinitions } from "./next-definitions.ts";
import { requireBranchName } from "./require-branch-name.ts";
import { templatesOf } from "./template-catalog.ts";
import { noticedDefinitions } from "./watched-definitions.store.ts";

/** Returns the branches of a repository about which the farm has data: `*` first, then by name. */
export async function listBranches(
  services: CatalogServices,
  written: string,
  by: Principal,
): Promise<Branch[]> {
  const branches = await services.db.transaction((tx) => knownBranches(tx, written));
  // Many branches share a source, so each source is read once.
  const readCatalogs = new Map<string, Promise<NextDefinitions>>();
  return mapAtMost(sourcesAtOnce, branches, async (known) => {
    const { repository, branch, resolved, catalog } = known;
    const place = { repository, branch, said: resolved };
    if (resolved.source.kind === "commit")
      return { ...known, next: lastDefinitions(catalog ?? undefined) };
    const isOfOneBranch = resolved.source.kind === "pushed";
    const key = canonicalJson([resolved.source, isOfOneBranch ? branch : null]);
    const next = readCatalogs.get(key) ?? nextDefinitions(services, place, by);
    readCatalogs.set(key, next);
    return { ...known, next: await next };
  });
}

/** How many sources of definitions are read at the same time, because each may take a while to answer. */
const sourcesAtOnce = 4;

async function knownBranches(tx: Tx, written: string): Promise<KnownBranch[]> {
  const repository = await requireRepository(tx, written);
  const used = (await branchCatalogs(tx, repository)).map(({ branch }) => branch);
  const names = new Set([...(await definedBranches(tx, repository)), ...used]);
  names.delete(allBranches);
  const branches: KnownBranch[] = [];
  for (const name of [allBranches, ...[...names].toSorted()])
    branches.push(await branchOf(tx, repository, name));
  return branches;
}

/** Returns the definition of a branch, its own entry with its author, and what its next submission will use. */
export async function showBranch(
  services: CatalogServices,
  written: string,
  branch: string,
  by: Principal,
): Promise<Branch> {
  const known = await services.db.transaction(async (tx) =>
    branchOf(tx, await requireRepository(tx, written), branch),
  );
  return withNext(services, known, by);
}

async function withNext(
  services: CatalogServices,
  known: KnownBranch,
  by: Principal,
): Promise<Branch> {
  const { repository, branch, resolved, catalog } = known;
  const place = { repository, branch, said: resolved };
  const isOfCommits = resolved.source.kind === "commit";
  if (isOfCommits && branch === allBranches) return { ...known, next: lastDefinitions(undefined) };
  const next = await nextDefinitions(services, place, by);
  // For a branch that is gone, or that Git never had, the last known commit is used.
  const isUnknown = isOfCommits && next.problem !== null;
  return { ...known, next: isUnknown ? lastDefinitions(catalog ?? undefined) : next };
}

/** A branch as known from the farm's own database. */
type KnownBranch = Omit<Branch, "next">;

async function branchOf(tx: Tx, repository: string, branch: string): Promise<KnownBranch> {
  const { generic, own } = await saidOfBranch(tx, repository, branch);
  const isGeneric = branch === allBranches;
  const resolved = resolveBranch(generic, own);
  const { source } = resolved;
  return {
    repository,
    branch,
    own: (isGeneric ? generic : own) ?? null,
    resolved,
    noticed: source.kind === "repository" ? ((await noticedDefinitions(tx, source)) ?? null) : null,
    history: await branchHistory(tx, repository, branch),
    catalog: (await branchCatalog(tx, repository, branch)) ?? null,
  };
}

/** Stores or removes the entry of a branch. Returns the definition that applies then. */
export async function setBranch(
  services: CatalogServices,
  written: string,
  branch: string,
  request: z.output<typeof SetBranch>,
  by: Principal,
): Promise<Branch> {
  const { db } = services;
  const { body, why, after } = request;
  // An entry under an invalid name can still be removed.
  if (body !== null) requireBranchName(branch);
  // A caller without any right to define must not register a repository.
  requireGrantSomewhere(by, "define");
  const known = await db.transaction(async (tx) => {
    const name = await repositoryFor(tx, written);
    // In the same transaction: a refused caller must not reserve the name that another repository needs.
    requireGrant(by, "define", { repository: name, branch });
    return name;
  });
  await requireMayReadDefinitions(services.access, by, body?.source);
  const read = body === null ? null : await withKnownSwitches(services, known, body);
  const defined = await db.transaction(async (tx) => {
    if (request.dryRun === true) {
      const { generic, own } = await saidOfBranch(tx, known, branch);
      const now = await branchOf(tx, known, branch);
      const givenBody = read ?? undefined;
      const resolved =
        branch === allBranches ? resolveBranch(givenBody, own) : resolveBranch(generic, givenBody);
      return { ...now, own: read, resolved };
    }
    await setBranchDefinition(tx, {
      repository: known,
      branch,
      body: read,
      setBy: by.name,
      why,
      after,
    });
    const detail = { repository: known, branch, body: read };
    await recordAudit(tx, { actor: by.name, verb: "define", detail, reason: why });
    return branchOf(tx, known, branch);
  });
  return withNext(services, defined, by);
}

/**
 * Returns the body with its switches converted to their declared types. A name that no branch's
 * definitions declare is a mistake. When no definitions are known yet, all names are accepted.
 */
async function withKnownSwitches(
  { db, cache }: CatalogServices,
  repository: string,
  body: BranchBody,
): Promise<BranchBody> {
  const pointers = await branchCatalogs(db, repository);
  if (body.switches === undefined || pointers.length === 0) return body;
  const declared = new Map<string, Switch>();
  for (const { catalog } of pointers) {
    for (const [name, { declaration }] of templatesOf(await cache.get(db, catalog)).switches)
      declared.set(name, declaration);
  }
  const { values, problems } = readSwitchValues(declared, body.switches);
  const [problem] = problems;
  if (problem !== undefined) throw new Fault("invalid_argument", problem.message);
  return { ...body, switches: values };
}
