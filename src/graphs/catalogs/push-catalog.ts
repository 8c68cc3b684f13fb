import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant, requireGrantSomewhere } from "#access/require-grant.ts";
import type { PushCatalog, PushedCatalog } from "#api/catalog.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { type DefinitionProblem, throwIfAny } from "#definitions/definition-problems.ts";
import { shapeOf } from "#definitions/job-shape.ts";
import { readTemplates } from "#definitions/read-templates.ts";
import type { Templates } from "#definitions/templates.ts";
import { branchDefinition } from "./branch-definition.store.ts";
import { pointBranchAt } from "./catalog-source.store.ts";
import type { CatalogServices } from "./graph-definitions.ts";
import { repositoryFor } from "./known-repository.store.ts";
import { isDefinitionFile } from "./read-definition-files.ts";
import { requireBranchName } from "./require-branch-name.ts";
import { isKept, keepTemplates } from "./template-catalog.store.ts";
import { templateCatalogOf } from "./template-catalog.ts";

/**
 * Stores definitions that the caller sends, and makes a branch use them.
 *
 * The same definitions pushed twice are one catalog. Throws `DefinitionProblems` for problems that are visible before
 * filling placeholders.
 */
export async function pushCatalog(
  { db, cache }: CatalogServices,
  request: PushCatalog,
  by: Principal,
): Promise<PushedCatalog> {
  requireGrantSomewhere(by, "define");
  const { branch } = request;
  if (branch !== undefined) requireBranchName(branch);
  if (branch !== undefined && request.repository === undefined)
    throw new Fault("invalid_argument", "name the repository that the branch is of");
  const files = new Map(Object.entries(request.files).filter(([file]) => isDefinitionFile(file)));
  if (files.size === 0)
    throw new Fault("invalid_argument", "there is no *.yml in the pushed files");
  const templates = await readTemplates(files);
  throwIfAny(problemsSeen(templates));
  const catalog = await templateCatalogOf(templates);
  const { digest } = catalog;
  const answer = async (tx: Tx, notice: string | null): Promise<PushedCatalog> => ({
    digest,
    isNew: !(await isKept(tx, digest)),
    entries: catalog.entries.length,
    notice,
  });
  if (request.dryRun === true) return answer(db, null);

  const pushed = await db.transaction(async (tx) => {
    if (branch === undefined || request.repository === undefined) {
      const before = await answer(tx, null);
      await keepTemplates(tx, catalog);
      await recordAudit(tx, { actor: by.name, verb: "define", detail: { catalog: digest } });
      return before;
    }
    const repository = await repositoryFor(tx, request.repository);
    requireGrant(by, "define", { repository, branch });
    const { source } = await branchDefinition(tx, repository, branch);
    const before = await answer(
      tx,
      source.kind === "pushed"
        ? null
        : `graphs of ${branch} are still made from other definitions; to use these: grange branch set ${branch} --source pushed`,
    );
    await keepTemplates(tx, catalog);
    await pointBranchAt(tx, { repository, branch, catalog: digest, commit: null, setBy: by.name });
    const detail = { repository, branch, catalog: digest };
    await recordAudit(tx, { actor: by.name, verb: "define", detail });
    return before;
  });
  cache.put(catalog);
  return pushed;
}

/** Returns the problems of jobs without placeholders: no values can make a graph from these. */
function problemsSeen(templates: Templates): DefinitionProblem[] {
  return templates.jobs.flatMap((template) => {
    const shape = shapeOf(template);
    if (shape.kind !== "plain" || !("findings" in shape.parsed)) return [];
    return shape.parsed.findings.map((finding) =>
      template.origin.problem({ ...finding, path: ["jobs", template.name, ...finding.path] }),
    );
  });
}
