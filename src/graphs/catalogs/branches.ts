import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import { requireGrant, requireGrantSomewhere } from "#access/require-grant.ts";
import type { Branch, BranchBody, SetBranch } from "#api/branch.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { recordAudit } from "../audit.store.ts";
import type { Switch } from "../definitions/definition-file.ts";
import { readSwitchValues } from "../definitions/switch-values.ts";
import { requireMayReadDefinitions } from "../repository-access.ts";
import {
  branchHistory,
  definedBranches,
  saidOfBranch,
  setBranchDefinition,
} from "./branch-definition.store.ts";
import { allBranches, resolveBranch } from "./branch-definition.ts";
import { branchCatalog, branchCatalogs } from "./catalog-source.store.ts";
import type { CatalogRooms } from "./graph-definitions.ts";
import { repositoryFor, requireRepository } from "./known-repository.store.ts";
import { requireBranchName } from "./require-branch-name.ts";
import { templatesOf } from "./template-catalog.ts";

/** Branches of a repository that the farm has anything to say of: `*` first, then by name. */
export async function listBranches(tx: Tx, written: string): Promise<Branch[]> {
  const repository = await requireRepository(tx, written);
  const used = (await branchCatalogs(tx, repository)).map(({ branch }) => branch);
  const names = new Set([...(await definedBranches(tx, repository)), ...used]);
  names.delete(allBranches);
  const branches: Branch[] = [];
  for (const name of [allBranches, ...[...names].toSorted()])
    branches.push(await branchOf(tx, repository, name));
  return branches;
}

/** What holds on a branch, what is said of it itself, and who said so. */
export async function showBranch(tx: Tx, written: string, branch: string): Promise<Branch> {
  return branchOf(tx, await requireRepository(tx, written), branch);
}

async function branchOf(tx: Tx, repository: string, branch: string): Promise<Branch> {
  const { generic, own } = await saidOfBranch(tx, repository, branch);
  const isGeneric = branch === allBranches;
  return {
    repository,
    branch,
    own: (isGeneric ? generic : own) ?? null,
    resolved: resolveBranch(generic, own),
    history: await branchHistory(tx, repository, branch),
    catalog: (await branchCatalog(tx, repository, branch)) ?? null,
  };
}

/** Says something of a branch, or takes back what was said; answers what then holds. */
export async function setBranch(
  rooms: CatalogRooms,
  written: string,
  branch: string,
  request: z.output<typeof SetBranch>,
  by: Principal,
): Promise<Branch> {
  const { db } = rooms;
  const { body, why, after } = request;
  // What was said under a name that is none can still be taken back.
  if (body !== null) requireBranchName(branch);
  // Who may define nothing anywhere does not make the farm know a repository.
  requireGrantSomewhere(by, "define");
  const known = await db.transaction(async (tx) => {
    const name = await repositoryFor(tx, written);
    // In the same transaction: who is refused must not take the name that another repository needs.
    requireGrant(by, "define", { repository: name, branch });
    return name;
  });
  await requireMayReadDefinitions(rooms.access, by, body?.source);
  const read = body === null ? null : await withKnownSwitches(rooms, known, body);
  return db.transaction(async (tx) => {
    if (request.dryRun === true) {
      const { generic, own } = await saidOfBranch(tx, known, branch);
      const now = await branchOf(tx, known, branch);
      const said = read ?? undefined;
      const resolved =
        branch === allBranches ? resolveBranch(said, own) : resolveBranch(generic, said);
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
}

/**
 * The body with its switches as their declarations want them.
 *
 * A name that no branch's definitions declare is a slip of the pen. Where nothing is known of the
 * definitions yet, all are taken.
 */
async function withKnownSwitches(
  { db, shelf }: CatalogRooms,
  repository: string,
  body: BranchBody,
): Promise<BranchBody> {
  const pointers = await branchCatalogs(db, repository);
  if (body.switches === undefined || pointers.length === 0) return body;
  const declared = new Map<string, Switch>();
  for (const { catalog } of pointers) {
    for (const [name, { declaration }] of templatesOf(await shelf.get(db, catalog)).switches)
      declared.set(name, declaration);
  }
  const { values, problems } = readSwitchValues(declared, body.switches);
  const [problem] = problems;
  if (problem !== undefined) throw new Fault("invalid_argument", problem.message);
  return { ...body, switches: values };
}
