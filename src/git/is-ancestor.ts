import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { Git } from "./run-git.ts";

/** Returns whether a commit is in the history of another, or equal to it; both are in the mirror. */
export async function isAncestor(
  git: Git,
  mirror: string,
  commit: CommitSha,
  head: CommitSha,
): Promise<boolean> {
  if (commit === head) return true;
  const { exitCode, stderr } = await git.run(["merge-base", "--is-ancestor", commit, head], {
    directory: mirror,
  });
  if (exitCode === 0) return true;
  if (exitCode === 1) return false;
  throw new Fault("internal", `the histories of ${commit} and ${head} cannot be read: ${stderr}`);
}
