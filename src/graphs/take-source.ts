import type { Overlay } from "#cas/merge-trees.ts";
import { problemOfPath } from "#cas/path-rules.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import type { Source } from "#definitions/sources-key.ts";
import type { CommitInputReader } from "./commit-inputs.ts";
import { selectOfSubmodule } from "./select-inputs.ts";

/**
 * Returns the files that a job reads of another repository, ready to be placed over its files.
 *
 * For a submodule, these are the files that the job's own patterns match.
 */
export async function takeSource(
  inputs: CommitInputReader,
  source: Source,
  { inputs: patterns, lfs }: Pick<JobDefinition, "inputs" | "lfs">,
): Promise<Overlay> {
  const { repository, commit, at } = source;
  const from = `repository ${repository}`;
  if (commit === undefined)
    throw new Fault("failed_precondition", `${from}: its commit was not looked up; submit again`);
  const place = { url: repository, sha: CommitSha.parse(commit) };
  const files =
    source.submodule === true
      ? await inputs.readChosen(
          place,
          `submodule ${JSON.stringify([at, patterns])}`,
          (entries) => selectOfSubmodule(entries, at, patterns),
          { lfs },
        )
      : await inputs.read(place, source.inputs, { lfs });
  // A path that its place makes too long is refused with its own name, when the tree is built.
  const isLegal = files.entries.every(({ path }) => !problemOfPath(`${at}/${path}`));
  return isLegal
    ? { at: "", from, entries: [{ kind: "subtree", path: at, digest: files.root }] }
    : { at, from, entries: files.entries };
}
