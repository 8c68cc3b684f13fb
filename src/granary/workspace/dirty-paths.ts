import { Fault } from "#core/fault.ts";
import type { Git } from "#git/run-git.ts";

/** The result of `git status`. */
export interface TreeStatus {
  /** HEAD at the time of the status; undefined before the first commit. */
  readonly commit: string | undefined;
  readonly branch: string;
  readonly paths: readonly string[];
  readonly isCut: boolean;
}

/**
 * With more changes than this, the tree is not treated as a variant of a commit: callers assume that everything has
 * changed.
 */
const mostPaths = 10_000;
const longestPath = 4_096;

/**
 * Returns the changes of a working tree against its commit, from the tree's root. Stops reading at the limit: a
 * directory of a million untracked files would take Git minutes.
 */
export async function readStatus(
  git: Git,
  directory: string,
  settings: readonly string[],
  signal?: AbortSignal,
): Promise<TreeStatus> {
  const args = [
    ...settings,
    "status",
    // Paths are relative to the root in every directory.
    "--porcelain=v2",
    "--branch",
    "-z",
    "--no-renames",
    // A repository's own settings could hide changes.
    "--untracked-files=normal",
    "--ignore-submodules=none",
  ];
  const running = git.start(args, { directory, ...(signal && { signal }) });
  running.ended.catch(() => {});
  const header = { commit: undefined as string | undefined, branch: "" };
  const paths: string[] = [];
  let isCut = false;
  const take = (record: string) => {
    if (record.startsWith("# branch.oid ")) header.commit = hexIn(record.slice(13));
    else if (record.startsWith("# branch.head ")) header.branch = branchIn(record.slice(14));
    const path = pathIn(record);
    if (path === undefined) return;
    if (paths.length < mostPaths) paths.push(path);
    else isCut = true;
  };
  try {
    let rest = "";
    running.stdout.setEncoding("utf8");
    for await (const chunk of running.stdout as AsyncIterable<string>) {
      const records = (rest + chunk).split("\0");
      rest = records.pop() ?? "";
      for (const record of records) take(record);
      if (rest.length > longestPath) isCut = true;
      if (isCut) return { ...header, paths, isCut };
    }
    const { exitCode, stderr } = await running.ended;
    if (exitCode !== 0) throw new Fault("failed_precondition", `git status: ${stderr.trim()}`);
    return { ...header, paths, isCut };
  } finally {
    running.kill(new Fault("cancelled", "the rest is not needed"));
  }
}

function hexIn(text: string): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
}

function branchIn(text: string): string {
  return text === "(detached)" ? "" : text;
}

/** The number of words before the path, by the kind of record. */
const wordsBefore: Readonly<Record<string, number>> = { "1": 8, "2": 9, u: 10, "?": 1 };

function pathIn(record: string): string | undefined {
  let words = wordsBefore[record[0] ?? ""];
  if (words === undefined || record[1] !== " ") return undefined;
  let at = 0;
  for (; words > 0; words--) at = record.indexOf(" ", at) + 1;
  return record.slice(at);
}
