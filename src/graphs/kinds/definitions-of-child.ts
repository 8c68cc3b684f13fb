import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { definitionLimits } from "../definitions/definition-limits.ts";
import type { JobDefinition } from "../definitions/job-definition.ts";
import { type Definitions, readDefinitions } from "../definitions/read-definitions.ts";
import type { TemplateEvaluator } from "../definitions/template-evaluator.ts";
import { jobsOfCatalog, type RunToPlan } from "./child-graph.store.ts";

/** Where the commands of a graph job write what is to be run. */
export const usualGraphFile = ".grange-graph.yml";

export interface ChildDefinitionRooms {
  readonly db: Db;
  readonly store: BlobStore;
  readonly evaluator: TemplateEvaluator;
}

/**
 * What the graph of a graph job consists of, from wherever its definition says.
 *
 * What commands have written is a stranger's, and is read within the limits of any commit's. Throws
 * `DefinitionProblems`, `failed_precondition` and `not_found` when the job is at fault.
 */
export async function definitionsOfChild(
  rooms: ChildDefinitionRooms,
  run: RunToPlan,
): Promise<Definitions> {
  const { definition } = run;
  if (definition.catalog !== undefined) return storedJobs(rooms.db, definition.catalog);
  const file = graphFileOf(definition);
  const text =
    definition.definitions === undefined
      ? await writtenBy(rooms.store, run, file)
      : JSON.stringify(definition.definitions);
  const { sha, subject, author, committedAt } = { ...run, sha: run.commit };
  return readDefinitions(
    new Map([[file, text]]),
    {},
    {
      repository: run.repository,
      commit: { sha, subject, author, committedAt },
      rev: run.rev,
      branch: run.branch,
    },
    rooms.evaluator,
  );
}

export function graphFileOf(definition: JobDefinition): string {
  return definition.output ?? usualGraphFile;
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
    throw new Fault("not_found", `no graph's catalog ${catalog.slice(0, 12)} is known here`);
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
