import { stat } from "node:fs/promises";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { gitFault } from "./git-fault.ts";
import type { Mirror } from "./mirror.ts";
import {
  ambiguousRevision,
  branchOf,
  emptyRepository,
  type FoundRevision,
  splitRevision,
  unknownRevision,
} from "./revision.ts";
import type { Git } from "./run-git.ts";

/**
 * Returns the repository of a directory: for a checkout, a directory in one, or a worktree, the place of the objects.
 */
export async function repositoryAt(git: Git, path: string): Promise<string> {
  const there = await stat(path).catch(() => undefined);
  if (!there?.isDirectory()) {
    throw new Fault(
      "not_found",
      `${path} ${there ? "is not a directory" : "does not exist"}; give the path of a Git repository, or its URL`,
    );
  }
  const { exitCode, stdout, stderr } = await git.run(
    ["rev-parse", "--path-format=absolute", "--git-common-dir"],
    { directory: path },
  );
  if (exitCode !== 0) throw gitFault(path, stderr);
  return stdout.toString("utf8").replace(/\n$/, "");
}

interface LocalFetch {
  /** The path as the user named it: HEAD is the HEAD of this worktree. */
  readonly path: string;
  /** Where its objects are: see `repositoryAt`. */
  readonly repository: string;
  readonly revision: string;
  readonly signal: AbortSignal | undefined;
}

/** Resolves a revision in the user's repository, and fetches it by its id. */
export async function fetchFromLocal(
  git: Git,
  mirror: Mirror,
  { path, repository, revision, signal }: LocalFetch,
): Promise<FoundRevision> {
  const inRepository = { directory: path, ...(signal && { signal }) };
  // An id names no ref. If it is not a commit, or the server refuses it, the code below reports that.
  const full = CommitSha.safeParse(revision).data;
  const isGiven = full !== undefined && (await mirror.fetch(repository, full, signal));
  if (isGiven && (await mirror.resolve(full)) === full) return { sha: full };

  const parsed = await git.run(
    ["rev-parse", "--verify", "--end-of-options", `${revision}^{commit}`],
    inRepository,
  );
  if (parsed.exitCode !== 0) {
    if (/ambiguous/i.test(parsed.stderr)) throw ambiguousRevision(path, revision);
    const refs = await git.run(["for-each-ref", "--format=%(refname)"], inRepository);
    const names = refs.stdout.toString("utf8").split("\n").filter(Boolean);
    throw names.length === 0 ? emptyRepository(path) : unknownRevision(path, revision, names);
  }
  const sha = CommitSha.parse(parsed.stdout.toString("latin1").trim());
  if ((await mirror.resolve(sha)) !== sha && !(await mirror.fetch(repository, sha, signal))) {
    throw new Fault("unavailable", `${path} has ${sha}, but does not allow fetching it`);
  }

  // Prints nothing for a text that is not a ref, such as an id.
  const { name, steps } = splitRevision(revision);
  const named = await git.run(["rev-parse", "--symbolic-full-name", name], inRepository);
  const ref = named.exitCode === 0 ? named.stdout.toString("utf8").trim() : "";
  const branch = steps === "" ? branchOf(ref) : undefined;
  return {
    sha,
    ...(branch === undefined ? {} : { branch }),
    ...(ref.startsWith("refs/") ? { ref } : {}),
  };
}
