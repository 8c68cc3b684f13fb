import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { signersOf, templatesToSign } from "../catalogs/admit-catalog.ts";
import { branchName } from "../catalogs/admit-priority.ts";
import { branchDefinition } from "../catalogs/branch-definition.store.ts";
import { entriesOf } from "../catalogs/signed-catalog.store.ts";
import { readTemplateCatalog } from "../catalogs/template-catalog.store.ts";
import type { GraphId } from "../graph-id.ts";
import type { GraphSnapshot } from "./graph-snapshot.ts";
import { catalogsOfGraph, customisedAmong } from "./signed-by-now.store.ts";

/**
 * Refuses further runs of a graph that its branch would no longer admit.
 *
 * The graph may be older than the protection of its branch, or signed with a key that was revoked. Present runs
 * continue: revoking a key cancels nothing. Throws `permission_denied`.
 */
export async function requireMayRunAgain(
  tx: Tx,
  graph: Pick<GraphSnapshot, "id" | "repository" | "branch">,
  jobs: readonly string[],
  /** The jobs among these whose customisation will be removed. */
  uncustomised: readonly string[] = [],
): Promise<void> {
  if (jobs.length === 0) return;
  const rules = await branchDefinition(tx, graph.repository, graph.branch);
  if (!rules.protected) return;
  const place = branchName(graph);
  const customised = (await customisedAmong(tx, graph.id, jobs)).find(
    (job) => !uncustomised.includes(job),
  );
  if (customised !== undefined) {
    throw new Fault(
      "permission_denied",
      `${place} is protected and runs definitions as they were signed, and ${customised} is customised: ` +
        `\`grange customise ${graph.id.slice(0, 8)} ${customised} --remove --retrigger\``,
    );
  }
  const unsigned = await unsignedCatalog(tx, graph.id);
  if (unsigned === undefined) return;
  throw new Fault(
    "permission_denied",
    `${place} is now protected, and no trusted key has signed this graph's definitions: ` +
      `\`grange sign ${unsigned} --key FILE\``,
  );
}

/** Returns what would have to be signed; undefined when it is signed. */
async function unsignedCatalog(tx: Tx, graphId: GraphId): Promise<string | undefined> {
  const of = await catalogsOfGraph(tx, graphId);
  if (of === undefined) return undefined;
  const { catalog, templateCatalog, within } = of;
  if (templateCatalog !== null) {
    const templates = await readTemplateCatalog(tx, templateCatalog);
    const signers = templates && (await signersOf(tx, templatesToSign(templates)));
    if (signers !== undefined && signers.length > 0) return undefined;
  }
  const entries = await entriesOf(tx, catalog);
  if ((await signersOf(tx, { digest: catalog, entries })).length > 0) return undefined;
  return within === null ? (templateCatalog ?? catalog) : unsignedCatalog(tx, within);
}
