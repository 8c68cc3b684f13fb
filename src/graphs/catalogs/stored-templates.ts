import type { Tx } from "#db/db.ts";
import type { SubmittedChoice } from "../submitted-choice.ts";
import { type MadeOf, templatesToSign } from "./admit-catalog.ts";
import { branchDefinition } from "./branch-definition.store.ts";
import { chosenValues } from "./chosen-values.ts";
import { wantedOf } from "./graph-definitions.ts";
import { readTemplateCatalog } from "./template-catalog.store.ts";
import { templatesOf } from "./template-catalog.ts";

/** The part of a graph that concerns its templates. */
interface GraphOfTemplates {
  readonly repository: string;
  readonly branch: string;
  /** Null for a graph that was made without templates. */
  readonly templateCatalog: string | null;
  readonly choice: SubmittedChoice;
  /** The values that were used, for a graph whose given values were not stored. */
  readonly parameters: NonNullable<SubmittedChoice["given"]>["parameters"];
  readonly switches: NonNullable<SubmittedChoice["given"]>["switches"];
}

/**
 * Returns the templates of a stored graph, and the choices of its submitter besides the present values of its branch.
 */
export async function storedTemplates(
  tx: Tx,
  { repository, branch, templateCatalog, choice, parameters, switches }: GraphOfTemplates,
): Promise<MadeOf | undefined> {
  const catalog =
    templateCatalog === null ? undefined : await readTemplateCatalog(tx, templateCatalog);
  if (catalog === undefined) return undefined;
  const given = choice.given ?? { parameters, switches };
  const graph = choice.named ?? undefined;
  const wanted = wantedOf({ ...given, graph }, await branchDefinition(tx, repository, branch));
  return {
    templates: templatesToSign(catalog),
    chosen: chosenValues(templatesOf(catalog), wanted),
  };
}
