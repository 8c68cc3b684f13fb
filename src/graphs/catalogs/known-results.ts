import { lookUpActionResult } from "#actions/action-cache.ts";
import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import type { CatalogEntry } from "#definitions/catalog.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { buildAction } from "../build-action.ts";
import type { CommitInputReader } from "../commit-inputs.ts";
import type { InProject } from "../project-of-jobs.ts";

export interface ResultServices {
  readonly db: Db;
  readonly inputs: CommitInputReader;
  readonly inProject: InProject;
}

/**
 * The limit for jobs that are looked up for one preview. Each needs a query of the blob store, and not only of a table.
 */
const mostJobs = 300;

const requestedAtOnce = 8;

/**
 * Returns which jobs have a result in the action cache, as far as that is known before anything runs.
 *
 * A result can be known only for a job that reads only the commit: results of other jobs and files of other
 * repositories are not known yet. Jobs for which it is unknown are left out.
 */
export async function knownResults(
  { db, inProject }: ResultServices,
  commit: {
    readonly url: string;
    readonly sha: CommitSha;
    readonly project: string;
    readonly domain: TrustDomain;
  },
  jobs: readonly CatalogEntry[],
): Promise<Map<string, boolean>> {
  const knowable = jobs.filter(({ definition }) => readsTheCommitAlone(definition));
  if (knowable.length > mostJobs) return new Map();
  const { project, trees, inputs } = inProject(commit.project);
  const answers = await mapAtMost(requestedAtOnce, knowable, async ({ name, definition }) => {
    try {
      const { root } = await inputs.read(commit, definition.inputs, { lfs: definition.lfs });
      const actionDigest = buildAction(definition, root).action.digest;
      const key = { project, domain: commit.domain, actionDigest };
      return [[name, (await lookUpActionResult(db, trees, key)) !== undefined] as const];
    } catch (reason) {
      // A job that names a missing file will fail; its run reports that.
      if (reason instanceof Fault && reason.code === "invalid_argument") return [];
      throw reason;
    }
  });
  return new Map(answers.flat());
}

function readsTheCommitAlone({
  kind,
  needs,
  sources,
  ...rest
}: CatalogEntry["definition"]): boolean {
  return (
    (kind ?? "command") === "command" &&
    (sources ?? []).length === 0 &&
    rest.chunks === undefined &&
    rest["inputs-from"] === undefined &&
    Object.values(needs ?? {}).every((need) => need.outputs?.length === 0)
  );
}
