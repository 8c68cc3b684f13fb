import type { Git } from "#git/run-git.ts";
import type { GitWorkspace } from "./workspace.ts";

/** With this many changes, another commit's index contains few useful entries. */
const mostBytes = 8 * 1024 * 1024;

/**
 * Returns the paths that differ between a commit and the working tree, relative to its root. Undefined when that is
 * unknown: the commit is absent, there are too many, or not all changes of the tree are known.
 */
export async function changedPathsSince(
  git: Git,
  workspace: GitWorkspace,
  commit: string,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  // The farm sends this commit: Git must not read it as an option.
  if (workspace.dirtyPathsCut || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  if (commit === workspace.commit) return workspace.dirtyPaths;
  // Compares commits, because the tree's own changes are already known: no file of the tree has to be read again.
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff"];
  const between = [...args, "--ignore-submodules=none", commit, workspace.commit, "--"];
  try {
    const { exitCode, stdout } = await git.run(between, {
      directory: workspace.root,
      maxOutputBytes: mostBytes,
      ...(signal && { signal }),
    });
    if (exitCode !== 0) return undefined;
    const committed = stdout.toString().split("\0").slice(0, -1);
    return [...new Set([...committed, ...workspace.dirtyPaths])];
  } catch {
    return undefined;
  }
}
