import { type Commit, readCommit } from "./commit.ts";
import { fetchFromLocal, repositoryAt } from "./fetch-from-local.ts";
import { fetchFromRemote } from "./fetch-from-remote.ts";
import { type Mirror, openMirror } from "./mirror.ts";
import { parseRepositoryAddress, withoutPassword } from "./repository-address.ts";
import { assertPlainRevision } from "./revision.ts";
import type { Git } from "./run-git.ts";

/** A commit that is in our mirror, with all of its files and history. */
export interface FetchedCommit extends Commit {
  /** The branch that was asked for, by its name or as HEAD. */
  readonly branch?: string;
  /** The ref that it was found by, in full: `refs/pull/7/head`, also for `pull/7/head~1`. An id has none. */
  readonly ref?: string;
  /** The repository as it may be shown: a path, or a URL without password. */
  readonly repository: string;
  /** The directory of the mirror, for the functions that read from it. */
  readonly mirror: string;
}

export interface Mirrors {
  /**
   * Makes sure that a commit is in our mirror of a repository.
   *
   * The repository is a path of this machine or a URL, the revision HEAD, a branch, a
   * tag, an id (short or full) or a ref such as `refs/pull/7/head`, each with steps
   * such as `~2`. The network is used only when the answer depends on it.
   *
   * Throws a Fault that says what is wrong and what to do: `invalid_argument`,
   * `not_found`, `failed_precondition` (no commits), `unavailable`, `unauthenticated`.
   */
  fetchCommit(repository: string, revision: string, signal?: AbortSignal): Promise<FetchedCommit>;
  /** Returns whether a commit, by its full id, is in the mirror. Contacts no other machine. */
  hasCommit(repository: string, sha: string): Promise<boolean>;
}

interface MirrorsOptions {
  readonly git: Git;
  /** Holds one mirror per repository. Several processes may share it. */
  readonly directory: string;
  /** The directory to which relative paths of repositories are relative. */
  readonly workingDirectory: string;
}

export function openMirrors({ git, directory, workingDirectory }: MirrorsOptions): Mirrors {
  const mirrors = new Map<string, Promise<Mirror>>();
  const turns = new Map<string, Promise<unknown>>();

  // Tokens in addresses are others every hour; the mirror is the same.
  function mirrorOf(source: string): Promise<Mirror> {
    const key = withoutPassword(source);
    const opened = mirrors.get(key) ?? openMirror(git, directory, source);
    mirrors.set(key, opened);
    opened.catch(() => mirrors.delete(key));
    return opened;
  }

  /** Fetches one at a time for each mirror: the second fetch then finds what the first has fetched. */
  function inTurn<T>(source: string, work: () => Promise<T>): Promise<T> {
    const key = withoutPassword(source);
    const before = turns.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const over = mine.catch(() => {});
    turns.set(key, over);
    void over.then(() => {
      if (turns.get(key) === over) turns.delete(key);
    });
    return mine;
  }

  return {
    async hasCommit(repository, sha) {
      const address = parseRepositoryAddress(repository, workingDirectory);
      const source = address.kind === "local" ? await repositoryAt(git, address.path) : address.url;
      assertPlainRevision(sha);
      return (await (await mirrorOf(source)).resolve(sha)) === sha;
    },

    async fetchCommit(repository, revision, signal) {
      const address = parseRepositoryAddress(repository, workingDirectory);
      assertPlainRevision(revision);
      const where = address.kind === "local" ? address.path : address.url;
      const source = address.kind === "local" ? await repositoryAt(git, address.path) : address.url;
      const mirror = await mirrorOf(source);
      const { sha, branch, ref } = await inTurn(source, () =>
        address.kind === "local"
          ? fetchFromLocal(git, mirror, { path: where, repository: source, revision, signal })
          : fetchFromRemote(git, mirror, { url: source, revision, signal }),
      );
      return {
        ...(await readCommit(git, mirror.path, sha)),
        ...(branch === undefined ? {} : { branch }),
        ...(ref === undefined ? {} : { ref }),
        repository: withoutPassword(where),
        mirror: mirror.path,
      };
    },
  };
}
