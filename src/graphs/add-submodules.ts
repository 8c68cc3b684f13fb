import type { Principal } from "#access/principal.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import type { DefinedJob, Definitions } from "#definitions/read-definitions.ts";
import type { Source } from "#definitions/sources-key.ts";
import type { Submodule } from "#git/submodules.ts";
import type { CommitPlace } from "./commit-inputs.ts";
import { mayMatchBelow } from "./may-match-below.ts";
import { fetchSource, type SourceServices } from "./resolve-sources.ts";

/** The limit for submodules of one commit, including submodules within submodules. */
const mostSubmodules = 50;
const deepest = 5;

/**
 * Writes the submodules that jobs read into their definitions, as further sources.
 *
 * A definition then names the commit of each submodule, the access rule of `sources` applies to their repositories, and
 * a graph that is run again reads the same files. A job reads a submodule when its inputs may match a file of it,
 * unless it has `submodules: false`; no other submodule is fetched. Throws `DefinitionProblems` for those that cannot
 * be fetched, or that `by` may not read.
 */
export async function addSubmodules(
  services: SourceServices,
  definitions: Definitions,
  commit: CommitPlace,
  by: Principal,
): Promise<Definitions> {
  const readers = definitions.jobs.filter(mayReadSubmodules);
  if (readers.length === 0) return definitions;
  const found = await findSubmodules(services, commit, "", readers, by, 1);
  if (found.length === 0) return definitions;
  if (found.length > mostSubmodules) {
    throw new Fault(
      "failed_precondition",
      `the commit has more than ${mostSubmodules} submodules; leave some out with "inputs", or all with "submodules: false"`,
    );
  }
  const problems = readers.flatMap((job) =>
    found.flatMap(({ path, repository, failure }) =>
      failure !== undefined && reads(job, path)
        ? [problemOf(job, path, repository, failure.message)]
        : [],
    ),
  );
  if (problems.length > 0)
    throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));
  return withSources(definitions, (job) =>
    found.filter(({ path }) => reads(job, path)).map(sourceOf),
  );
}

/**
 * Marks the jobs that read submodules of the commit without fetching any, for submitters who may not read submodules.
 */
export async function markSubmodules(
  { inputs }: Pick<SourceServices, "inputs">,
  definitions: Definitions,
  commit: CommitPlace,
): Promise<Definitions> {
  if (!definitions.jobs.some(mayReadSubmodules)) return definitions;
  const submodules = await inputs.submodules(commit);
  return withSources(definitions, (job) =>
    submodules
      .filter(({ path }) => reads(job, path))
      .map(({ path, commit: sha, repository }) =>
        sourceOf({ path, sha, repository: repository instanceof Fault ? path : repository }),
      ),
  );
}

interface FoundSubmodule {
  readonly path: string;
  readonly sha: string;
  readonly repository: string;
  readonly failure?: Fault | undefined;
}

async function findSubmodules(
  services: SourceServices,
  commit: CommitPlace,
  above: string,
  readers: readonly DefinedJob[],
  by: Principal,
  depth: number,
): Promise<FoundSubmodule[]> {
  const found: FoundSubmodule[] = [];
  for (const submodule of await services.inputs.submodules(commit)) {
    const path = `${above}${submodule.path}`;
    if (!readers.some((job) => reads(job, path))) continue;
    const here = await fetchSubmodule(services, { ...submodule, path }, by, depth);
    found.push(here);
    if (here.failure === undefined) {
      const within = { url: here.repository, sha: CommitSha.parse(here.sha) };
      found.push(...(await findSubmodules(services, within, `${path}/`, readers, by, depth + 1)));
    }
    if (found.length > mostSubmodules) break;
  }
  return found;
}

async function fetchSubmodule(
  services: SourceServices,
  { path, commit, repository }: Submodule,
  by: Principal,
  depth: number,
): Promise<FoundSubmodule> {
  const failed = (failure: Fault) => ({
    path,
    sha: commit,
    repository: repository instanceof Fault ? "" : repository,
    failure,
  });
  if (repository instanceof Fault) return failed(repository);
  if (depth > deepest)
    return failed(new Fault("failed_precondition", `it is more than ${deepest} submodules deep`));
  const fetched = await fetchSource(services, { repository, commit }, by);
  if (fetched instanceof Fault) return failed(fetched);
  services.inputs.know({ url: fetched.repository, sha: fetched.sha }, fetched.mirror);
  return { path, sha: fetched.sha, repository: fetched.repository };
}

function mayReadSubmodules({ wanted, definition }: DefinedJob): boolean {
  return wanted && definition.commands !== undefined && definition.submodules !== false;
}

function reads(job: DefinedJob, path: string): boolean {
  return mayReadSubmodules(job) && mayMatchBelow(job.definition.inputs, path);
}

function sourceOf({ path, sha, repository }: FoundSubmodule): Source {
  return { repository, commit: CommitSha.parse(sha), at: path, submodule: true };
}

function withSources(
  definitions: Definitions,
  submodulesOf: (job: DefinedJob) => readonly Source[],
): Definitions {
  const jobs = definitions.jobs.map((job) => {
    const added = submodulesOf(job);
    if (added.length === 0) return job;
    const sources = [...(job.definition.sources ?? []), ...added];
    return { ...job, definition: { ...job.definition, sources } };
  });
  return { ...definitions, jobs };
}

function problemOf(job: DefinedJob, path: string, repository: string, why: string) {
  const where = repository === "" ? "" : ` (${repository})`;
  return job.problemAt(
    ["inputs"],
    `job "${job.name}" cannot read the submodule ${path}${where}: ${why}; leave it out with "inputs", or all with "submodules: false"`,
  );
}
