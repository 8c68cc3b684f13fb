import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { DefinitionContext } from "#definitions/definition-context.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { type Definitions, fillTemplates, wantedOfChild } from "#definitions/fill-templates.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { readTemplates } from "#definitions/read-templates.ts";
import type { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { CatalogCache } from "../catalogs/catalog-cache.ts";
import { jobsOfCatalog } from "../catalogs/template-catalog.store.ts";
import {
  type TemplateCatalog,
  templateCatalogOf,
  templatesOf,
} from "../catalogs/template-catalog.ts";
import type { InProject } from "../project-of-jobs.ts";
import { ancestorsOf, type RunToPlan } from "./child-graph.store.ts";

/** The file to which the commands of a graph job write the definitions by default. */
const defaultGraphFile = ".grange-graph.yml";

export interface ChildDefinitionServices {
  readonly db: Db;
  readonly inProject: InProject;
  readonly evaluator: TemplateEvaluator;
  readonly cache: CatalogCache;
}

/** The definitions of the graph of a graph job. */
interface ChildDefinitions {
  readonly definitions: Definitions;
  /** The definitions with unfilled placeholders; undefined when it was made from jobs of another graph. */
  readonly templates: TemplateCatalog | undefined;
}

/**
 * Reads the definitions of a graph job's graph, from the source that its own definition names.
 *
 * The output of commands is untrusted, and is read within the limits of any commit's definitions. Throws
 * `DefinitionProblems`, `failed_precondition` and `not_found` for a mistake of the job.
 */
export async function definitionsOfChild(
  services: ChildDefinitionServices,
  run: RunToPlan,
): Promise<ChildDefinitions> {
  const { definition } = run;
  if (definition.catalog !== undefined) {
    return { definitions: await storedJobs(services.db, definition.catalog), templates: undefined };
  }
  if (definition.graph !== undefined) return namedGraph(services, run, definition.graph);
  const file = graphFileOf(definition);
  const text =
    definition.definitions === undefined
      ? await writtenBy(services.inProject(run.project).store, run, file)
      : JSON.stringify(definition.definitions);
  const templates = await readTemplates(new Map([[file, text]]));
  const wanted = { parameters: {}, switches: {} };
  return {
    definitions: await fillTemplates(templates, wanted, contextOf(run), services.evaluator),
    templates: await templateCatalogOf(templates),
  };
}

/** Returns a named graph from the definitions of the run's own graph. */
async function namedGraph(
  { db, cache, evaluator }: ChildDefinitionServices,
  run: RunToPlan,
  name: string,
): Promise<ChildDefinitions> {
  if (run.templateCatalog === null) {
    throw new Fault(
      "failed_precondition",
      `there is no graph "${name}": the graph of this job was not made of definitions that name graphs`,
    );
  }
  const templates = await cache.get(db, run.templateCatalog);
  const wanted = wantedOfChild(run.definition, run);
  const definitions = await fillTemplates(
    templatesOf(templates),
    wanted,
    contextOf(run),
    evaluator,
  );
  if (await isWithinItself(db, run, name, definitions)) {
    throw new Fault(
      "failed_precondition",
      `the graph "${name}" contains itself, with the same values: select its jobs without ${run.job}`,
    );
  }
  return { definitions, templates };
}

/** Returns whether this graph is already one of the run's ancestors. */
async function isWithinItself(
  db: Db,
  { graphId, templateCatalog }: RunToPlan,
  name: string,
  { parameters, switches }: Definitions,
): Promise<boolean> {
  const values = canonicalJson({ parameters, switches });
  return (await ancestorsOf(db, graphId)).some(
    (above) =>
      above.named === name &&
      above.templateCatalog === templateCatalog &&
      canonicalJson({ parameters: above.parameters, switches: above.switches }) === values,
  );
}

function contextOf(run: RunToPlan): DefinitionContext {
  const { repository, rev, branch, subject, author, committedAt } = run;
  return { repository, commit: { sha: run.commit, subject, author, committedAt }, rev, branch };
}

export function graphFileOf(definition: JobDefinition): string {
  return definition.output ?? defaultGraphFile;
}

async function writtenBy(store: BlobStore, run: RunToPlan, file: string): Promise<string> {
  const result = run.result === null ? undefined : fromBinary(ActionResultSchema, run.result);
  const entries = result && (await outputOf(store, result, file));
  const [entry] = entries ?? [];
  if (entry === undefined || entry.kind !== "file") {
    throw new Fault(
      "failed_precondition",
      `the commands did not write ${file}, the definitions of their graph`,
    );
  }
  if (entry.digest.sizeBytes > definitionLimits.fileBytes) {
    throw new Fault(
      "failed_precondition",
      `${file} has more than 1 MiB, the most that a file of definitions can have`,
    );
  }
  const bytes = await store.get(entry.digest);
  if (bytes === undefined) throw new Fault("unavailable", `${file} is not in the store`);
  return new TextDecoder().decode(bytes);
}

async function storedJobs(db: Db, catalog: string): Promise<Definitions> {
  const entries = await jobsOfCatalog(db, catalog);
  if (entries.length === 0) {
    throw new Fault(
      "not_found",
      `the farm knows no graph with the catalog ${catalog.slice(0, 12)}`,
    );
  }
  return {
    parameters: {},
    switches: {},
    graph: undefined,
    jobs: entries.map(({ name, definition }) => ({
      name,
      definition,
      wanted: true,
      problemAt: (_path, message) => ({ file: catalog, line: null, column: null, message }),
    })),
  };
}
