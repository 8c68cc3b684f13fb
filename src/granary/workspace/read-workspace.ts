import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { indexLimits } from "#commit-index/index-limits.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Git } from "#git/run-git.ts";
import { readStatus, type TreeStatus } from "./dirty-paths.ts";
import { repositoryOfUrl } from "./repository-of-url.ts";
import { usersIgnores } from "./users-ignores.ts";
import type { GitWorkspace, PlainWorkspace, Workspace } from "./workspace.ts";

/**
 * Returns the Git repository of a directory, or of one above it. A submodule, a worktree or a nested repository counts
 * as its own.
 *
 * Throws only when `signal` is aborted: with a broken repository, the build continues without its commit.
 */
export async function readWorkspace(
  git: Git,
  directory: string,
  signal?: AbortSignal,
): Promise<Workspace> {
  const real = await realpath(directory).catch(() => resolve(directory));
  const plain = (why: PlainWorkspace["why"], message: string, root = real) =>
    ({ kind: "plain", why, root, message }) as const;
  try {
    // Both run in parallel, because a build waits for them and each process takes longer to start
    // than to answer.
    const [place, read] = await Promise.all([
      findTop(git, real, signal),
      readRepository(git, real, signal),
    ]);
    if (place === undefined) return plain("no-repository", `${real} is in no Git repository`);
    const found = read(place);
    return found ?? plain("no-commit", `${place.root} has no commit yet`, place.root);
  } catch (reason) {
    const isAbsent = reason instanceof Fault && reason.code === "failed_precondition";
    const isNoGit = isAbsent && reason.message.startsWith("git is not installed");
    return plain(isNoGit ? "no-git" : "trouble", messageOf(reason));
  }
}

interface Place {
  readonly root: string;
  /** The directory that all worktrees of a repository share. */
  readonly commonDirectory: string;
}

async function findTop(
  git: Git,
  directory: string,
  signal?: AbortSignal,
): Promise<Place | undefined> {
  const args = ["rev-parse", "--show-toplevel", "--git-common-dir"];
  const { exitCode, stdout } = await git.run(args, { directory, ...(signal && { signal }) });
  if (exitCode !== 0) return undefined;
  const [root = "", common = ""] = stdout.toString().split("\n");
  return { root, commonDirectory: resolve(directory, common) };
}

/** Returns everything about the repository except its place. */
async function readRepository(
  git: Git,
  directory: string,
  signal?: AbortSignal,
): Promise<(place: Place) => GitWorkspace | undefined> {
  const [commits, status, remote] = await Promise.all([
    readCommits(git, directory, signal),
    usersIgnores(git, signal)
      .then((settings) => readStatus(git, directory, settings, signal))
      // This may take minutes when a million files have to be compared. The commit is known without
      // it.
      .catch(() => undefined),
    readRemote(git, directory, signal),
  ]);
  return ({ root, commonDirectory }) => {
    const [own, ...parents] = commits;
    if (own === undefined) return undefined;
    return {
      kind: "git",
      root,
      ...own,
      parents: parents.map(({ commit }) => commit),
      ...changesOf(status, own.commit),
      repository: repositoryOfUrl(remote ?? nameOf(commonDirectory, root)),
    };
  };
}

/** HEAD may have moved between two calls: then the changes against that commit are unknown. */
function changesOf(status: TreeStatus | undefined, commit: string) {
  if (status === undefined || status.commit !== commit) {
    return { branch: "", dirty: true, dirtyPaths: [], dirtyPathsCut: true };
  }
  const { branch, paths, isCut } = status;
  return { branch, dirty: paths.length > 0 || isCut, dirtyPaths: paths, dirtyPathsCut: isCut };
}

/**
 * Returns the name of the main working tree, also in each of its worktrees. A submodule has its own
 * name.
 */
function nameOf(commonDirectory: string, root: string): string {
  return basename(commonDirectory) === ".git" ? dirname(commonDirectory) : root;
}

async function readCommits(git: Git, directory: string, signal?: AbortSignal) {
  const args = [
    "log",
    "--first-parent",
    "--no-show-signature",
    `--max-count=${indexLimits.commits}`,
    "--format=%H %T",
    "HEAD",
    "--",
  ];
  const { exitCode, stdout } = await git.run(args, { directory, ...(signal && { signal }) });
  if (exitCode !== 0) return [];
  return stdout
    .toString("latin1")
    .split("\n")
    .flatMap((line) => {
      const [, commit, tree] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64})$/.exec(line) ?? [];
      return commit === undefined || tree === undefined ? [] : [{ commit, tree }];
    });
}

/** Returns the address of `origin`, or of the first remote. */
async function readRemote(
  git: Git,
  directory: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { exitCode, stdout } = await git.run(
    ["config", "--null", "--get-regexp", "^remote\\..*\\.url$"],
    { directory, ...(signal && { signal }) },
  );
  if (exitCode !== 0) return undefined;
  const remotes = stdout
    .toString()
    .split("\0")
    .map((record) => record.split("\n", 2));
  const own = remotes.find(([name]) => name === "remote.origin.url") ?? remotes[0];
  return own?.[1];
}
