import type { Overlay } from "#cas/merge-trees.ts";
import { problemOfPath } from "#cas/path-rules.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { CommitInputReader } from "./commit-inputs.ts";
import type { Source } from "./definitions/sources-key.ts";

/** What a job reads of another repository, ready to be laid over its files. */
export async function takeSource(inputs: CommitInputReader, source: Source): Promise<Overlay> {
  const { repository, commit, at } = source;
  const from = `repository ${repository}`;
  if (commit === undefined)
    throw new Fault("failed_precondition", `${from}: its commit was not looked up; submit anew`);
  const files = await inputs.read({ url: repository, sha: CommitSha.parse(commit) }, source.inputs);
  // A path that its place makes too long is refused with its own name, when the tree is built.
  const isLegal = files.entries.every(({ path }) => !problemOfPath(`${at}/${path}`));
  return isLegal
    ? { at: "", from, entries: [{ kind: "subtree", path: at, digest: files.root }] }
    : { at, from, entries: files.entries };
}
