import { problemOfPath } from "#cas/path-rules.ts";
import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { gitFault } from "./git-fault.ts";
import type { Git } from "./run-git.ts";

/** A Git object's id: 40 hex digits. */
export type GitId = string;

/** A file or symlink of a commit. Its content is the Git object; a symlink's is its target. */
export interface CommitEntry {
  readonly kind: "file" | "symlink";
  readonly path: string;
  readonly gitId: GitId;
  readonly executable: boolean;
}

/** An entry of a commit that cannot be in an input tree, for a note beside the graph. */
export interface SkippedEntry {
  readonly path: string;
  /** The end of a sentence that begins with the path, such as `is a submodule`. */
  readonly why: string;
}

/** A path at which a commit contains a commit of another repository. */
export interface GitLink {
  readonly path: string;
  readonly commit: GitId;
}

export interface CommitTree {
  readonly entries: readonly CommitEntry[];
  readonly links: readonly GitLink[];
  readonly skipped: readonly SkippedEntry[];
}

/** About two million files. */
const maxListBytes = 256 * 1024 * 1024;

/** Lists all files of a commit in a mirror, or those below one directory. */
export async function listCommitTree(
  git: Git,
  mirror: string,
  sha: CommitSha,
  below?: string,
): Promise<CommitTree> {
  const { exitCode, stdout, stderr } = await git.run(
    [
      "ls-tree",
      "-r",
      "-z",
      "--full-tree",
      sha,
      ...(below === undefined ? [] : ["--", `${below}/`]),
    ],
    { directory: mirror, maxOutputBytes: maxListBytes },
  );
  if (exitCode !== 0) throw gitFault(mirror, stderr);
  return parseCommitTree(stdout);
}

/** Reads `<mode> <type> <id>\t<path>\0`, repeated. Throws `data_loss` for an entry that is cut off. */
export function parseCommitTree(listing: Buffer): CommitTree {
  const entries: CommitEntry[] = [];
  const links: GitLink[] = [];
  const skipped: SkippedEntry[] = [];
  for (let at = 0; at < listing.length; ) {
    const end = listing.indexOf(0, at);
    const tab = listing.indexOf(0x09, at);
    if (end < 0 || tab < 0 || tab > end)
      throw new Fault("data_loss", `git ls-tree ended within an entry, at byte ${at}`);
    const [mode = "", , gitId = ""] = listing.toString("latin1", at, tab).split(" ");
    const path = listing.toString("utf8", tab + 1, end);
    const problem = problemOf(mode, path, listing.subarray(tab + 1, end));
    if (mode === "160000" && problemOfPath(path) === undefined) links.push({ path, commit: gitId });
    if (problem) skipped.push({ path, why: problem });
    else {
      const kind = mode === "120000" ? "symlink" : "file";
      entries.push({ kind, path, gitId, executable: mode === "100755" });
    }
    at = end + 1;
  }
  return { entries, links, skipped };
}

function problemOf(mode: string, path: string, bytes: Buffer): string | undefined {
  if (mode === "160000") return "is a submodule";
  // Git's names are bytes; the names of an input tree are text.
  if (path.includes("\ufffd") && !Buffer.from(path).equals(bytes))
    return "has a name that is not UTF-8";
  return problemOfPath(path);
}
