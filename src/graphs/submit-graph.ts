import { randomUUID } from "node:crypto";
import type { GraphSummary, SubmitGraph } from "#api/graph.ts";
import { Fault } from "#core/fault.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import type { FetchedCommit, Mirrors } from "#git/fetch-commit.ts";
import { readFilesBelow } from "#git/read-file.ts";
import type { Git } from "#git/run-git.ts";
import { beginGraph } from "./advancing/begin-graph.ts";
import type { CommitInputReader } from "./commit-inputs.ts";
import { definitionLimits } from "./definitions/definition-limits.ts";
import { DefinitionProblems } from "./definitions/definition-problems.ts";
import { readDefinitions } from "./definitions/read-definitions.ts";
import type { TemplateEvaluator } from "./definitions/template-evaluator.ts";
import { insertGraph, keepCatalog } from "./graph.store.ts";
import { GraphId } from "./graph-id.ts";
import { graphSummary } from "./graph-summary.store.ts";
import { plan } from "./plan.ts";
import { nameRepository } from "./repository.store.ts";

export interface SubmissionRooms {
  readonly db: Db;
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly inputs: CommitInputReader;
  readonly evaluator: TemplateEvaluator;
}

/** Where a repository keeps its definitions. */
export const definitionsDirectory = ".grange";

/**
 * Plans the graph of a commit, and stores it; it then runs by itself.
 *
 * A request that names an id which is there already is answered with that graph.
 * Throws `DefinitionProblems`, and what fetching the commit throws.
 */
export async function submitGraph(
  rooms: SubmissionRooms,
  request: SubmitGraph,
): Promise<{ readonly graph: GraphSummary; readonly isNew: boolean }> {
  const { db } = rooms;
  const id = GraphId.parse(request.id ?? randomUUID());
  const known = request.id === undefined ? undefined : await graphSummary(db, id);
  if (known !== undefined) return { graph: known, isNew: false };

  const rev = request.rev ?? "HEAD";
  const commit = await rooms.mirrors.fetchCommit(request.repository, rev);
  rooms.inputs.know({ url: commit.repository, sha: commit.sha }, commit.mirror);
  const repository = await db.transaction((tx) => nameRepository(tx, commit.repository));
  const files =
    request.definitions === undefined
      ? await definitionsOfCommit(rooms.git, commit)
      : new Map(Object.entries(request.definitions).filter(([file]) => isDefinitionFile(file)));
  const { sha, subject, committedAt } = commit;
  const author = commit.author.name;
  const definitions = await readDefinitions(
    files,
    request.parameters ?? {},
    { repository, commit: { sha, subject, author, committedAt }, rev, branch: commit.branch ?? "" },
    rooms.evaluator,
  );
  const planned = plan(definitions);
  const begun = await beginGraph(planned);

  return db.transaction(async (tx) => {
    await keepCatalog(tx, planned.catalog);
    const isNew = await insertGraph(tx, {
      begun,
      id,
      branch: commit.branch ?? "",
      switches: {},
      priority: 0,
      top: false,
      submittedBy: "anyone",
      repository,
      rev,
      subject,
      author,
      committedAt,
      commit: sha,
      catalog: planned.catalog,
      parameters: definitions.parameters,
      domain: protectedDomain,
      skipCache: request.skipCache ?? false,
    });
    const graph = await graphSummary(tx, id);
    if (graph === undefined) throw new Fault("internal", `graph ${id} was not stored`);
    return { graph, isNew };
  });
}

/** `.grange/*.yml` and `.grange/*.yaml`; directories within are somebody else's. */
async function definitionsOfCommit(git: Git, commit: FetchedCommit): Promise<Map<string, string>> {
  const found = await readFilesBelow(git, commit.mirror, commit.sha, definitionsDirectory, {
    maxFiles: definitionLimits.files,
    maxFileBytes: definitionLimits.fileBytes,
    maxTotalBytes: definitionLimits.allBytes,
  });
  const decoder = new TextDecoder();
  const files = new Map(
    found
      .filter(({ path }) => path.split("/").length === 2 && isDefinitionFile(path))
      .map(({ path, bytes }) => [path, decoder.decode(bytes)]),
  );
  if (files.size > 0) return files;
  const message = `commit ${commit.sha.slice(0, 10)} has no definitions: add ${definitionsDirectory}/farm.yml ("grange init" writes a first one), or give definitions along`;
  throw new DefinitionProblems([{ file: definitionsDirectory, line: null, column: null, message }]);
}

function isDefinitionFile(path: string): boolean {
  return /\.ya?ml$/.test(path);
}
