import type { Principal } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { type DefinitionProblem, DefinitionProblems } from "#definitions/definition-problems.ts";
import type { DefinedJob, Definitions } from "#definitions/read-definitions.ts";
import type { Source } from "#definitions/sources-key.ts";
import type { FetchedCommit, Mirrors } from "#git/fetch-commit.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { CommitInputReader } from "./commit-inputs.ts";
import type { RepositoryAccess } from "./repository-access.ts";

/** The number of repositories that are queried at once, because each may take a while to answer. */
const requestedAtOnce = 4;

/** The limit for different revisions of other repositories that one graph may read. */
const mostRevisions = 50;

export interface SourceServices {
  readonly mirrors: Mirrors;
  readonly inputs: CommitInputReader;
  readonly access: RepositoryAccess;
}

/**
 * Resolves the revisions of other repositories to commits, and writes these into the definitions.
 *
 * A definition then names everything that the job reads: when a branch moves, the definition changes, and a graph that
 * is run again reads the same. Throws `DefinitionProblems` for revisions that cannot be found or that the principal may
 * not read.
 */
export async function resolveSources(
  services: SourceServices,
  definitions: Definitions,
  by: Principal,
): Promise<Definitions> {
  const sources = new Map<string, Source>();
  for (const { source } of sourcesOf(definitions.jobs)) sources.set(keyOf(source), source);
  if (sources.size === 0) return definitions;
  if (sources.size > mostRevisions) throw tooMany(definitions.jobs, sources.size);

  const found = new Map(
    await mapAtMost(requestedAtOnce, [...sources], async ([key, source]) => {
      const commit = await fetchSource(services, source, by);
      if (!(commit instanceof Fault))
        services.inputs.know({ url: commit.repository, sha: commit.sha }, commit.mirror);
      return [key, commit] as const;
    }),
  );
  const problems = sourcesOf(definitions.jobs).flatMap(({ job, at, source }) => {
    const commit = found.get(keyOf(source));
    return commit instanceof Fault ? [problemOf(job, at, source, commit)] : [];
  });
  if (problems.length > 0)
    throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));

  const jobs = definitions.jobs.map((job) => {
    const { sources } = job.definition;
    if (!job.wanted || sources === undefined) return job;
    const resolved = sources.map((source) => {
      const commit = found.get(keyOf(source));
      if (commit === undefined || commit instanceof Fault) return source;
      return { ...source, repository: commit.repository, commit: commit.sha };
    });
    return { ...job, definition: { ...job.definition, sources: resolved } };
  });
  return { ...definitions, jobs };
}

/** Errors that the author can correct, unlike a lost network. */
const mistakes: ReadonlySet<Fault["code"]> = new Set([
  "invalid_argument",
  "not_found",
  "failed_precondition",
  "unauthenticated",
  "permission_denied",
]);

interface RequestedSource {
  readonly job: DefinedJob;
  readonly at: number;
  readonly source: Source;
}

function sourcesOf(jobs: readonly DefinedJob[]): RequestedSource[] {
  return jobs
    .filter((job) => job.wanted)
    .flatMap((job) => (job.definition.sources ?? []).map((source, at) => ({ job, at, source })));
}

function keyOf({ repository, rev, commit }: Source): string {
  return `${repository}\n${commit ?? rev ?? "HEAD"}`;
}

/** Fetches a source's commit; returns the reason for a failure that its author can correct. */
export async function fetchSource(
  { mirrors, access }: Pick<SourceServices, "mirrors" | "access">,
  { repository, rev, commit }: Pick<Source, "repository" | "rev" | "commit">,
  by: Principal,
): Promise<FetchedCommit | Fault> {
  try {
    await access.requireMayRead(by, repository);
    const found = await mirrors.fetchCommit(repository, commit ?? rev ?? "HEAD");
    // A path below a checkout belongs to the checkout's repository, which may have another name.
    await access.requireMayRead(by, found.repository);
    return found;
  } catch (reason) {
    if (reason instanceof Fault && mistakes.has(reason.code)) return reason;
    throw reason;
  }
}

function problemOf(job: DefinedJob, at: number, source: Source, why: Fault): DefinitionProblem {
  const key =
    source.commit !== undefined ? "commit" : source.rev !== undefined ? "rev" : "repository";
  const message = `job "${job.name}" cannot read its source: ${why.message}`;
  return job.problemAt(["sources", at, key], message);
}

function tooMany(jobs: readonly DefinedJob[], count: number): DefinitionProblems {
  const [first] = sourcesOf(jobs);
  const message = `the jobs read ${count} revisions of other repositories, more than ${mostRevisions}`;
  const place = first?.job.problemAt(["sources"], message, "key");
  return new DefinitionProblems(
    place === undefined ? [{ file: ".grange", line: null, column: null, message }] : [place],
  );
}
