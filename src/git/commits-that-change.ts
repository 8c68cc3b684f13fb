import { problemOfPath, quotePath } from "#cas/path-rules.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { gitFault } from "./git-fault.ts";
import type { Git } from "./run-git.ts";

/**
 * Returns those of the commits that change a file or something below a directory, compared with their first parent; for
 * a first commit, and for the oldest one of a shallow mirror, everything is a change. Commits that the mirror lacks are
 * left out.
 *
 * @param path as `changedPath` returns it
 */
export async function commitsThatChange(
  git: Git,
  wanted: {
    readonly mirror: string;
    readonly commits: readonly CommitSha[];
    readonly path: string;
    readonly timeoutMs: number;
  },
): Promise<ReadonlySet<CommitSha>> {
  const { mirror, commits, path, timeoutMs } = wanted;
  if (commits.length === 0) return new Set();
  const compare = ["diff-tree", "--stdin", "--root", "-r", "-s", "--no-renames"];
  const { exitCode, stdout, stderr } = await git.run(
    // After `--` a path is never an option, and git reads it literally (`--literal-pathspecs`).
    [...compare, "--diff-merges=first-parent", "--", path],
    { directory: mirror, input: `${commits.join("\n")}\n`, timeoutMs },
  );
  if (exitCode !== 0) throw gitFault(mirror, stderr);
  const lines = stdout.toString("latin1").split("\n");
  return new Set(lines.filter((line) => line !== "").map((line) => CommitSha.parse(line)));
}

/**
 * Returns a path that a person wrote, relative to the root of the repository: `./src/` and `/src` become `src`.
 *
 * @throws Fault `invalid_argument` for a path that no file of a commit can have
 */
export function changedPath(written: string): string {
  const path = written.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
  const problem = problemOfPath(path);
  if (problem === undefined) return path;
  throw new Fault(
    "invalid_argument",
    `the path ${quotePath(written)} ${problem}; write it from the root of the repository, such as src/main.ts`,
  );
}
