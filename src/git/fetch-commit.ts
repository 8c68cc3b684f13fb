import { cachedFor } from "#core/cached-for.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { sharedTurns } from "#scheduling/shared-turns.ts";
import type { Commit } from "./commit.ts";
import { fetchFromLocal, repositoryAt } from "./fetch-from-local.ts";
import { fetchFromRemote } from "./fetch-from-remote.ts";
import { type Mirror, openMirror } from "./mirror.ts";
import { parseRepositoryAddress, withoutPassword } from "./repository-address.ts";
import { assertPlainRevision, type FoundRevision } from "./revision.ts";
import type { Git } from "./run-git.ts";

/** A commit in the farm's mirror, with all of its files and history. */
export interface FetchedCommit extends Commit {
  /** The requested branch, by its name or as HEAD. */
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
   * Makes sure that a commit is in the farm's mirror of a repository.
   *
   * The repository is a path of this machine or a URL, the revision HEAD, a branch, a tag, an id (short or full) or a
   * ref such as `refs/pull/7/head`, each with steps such as `~2`. The network is used only when the answer depends on
   * it.
   *
   * Throws a Fault that explains the problem and the remedy: `invalid_argument`, `not_found`, `failed_precondition` (no
   * commits), `unavailable`, `unauthenticated`.
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

/** How long the found repository of a directory is cached. */
const samePlaceMs = 5_000;
const keptPlaces = 1_000;

export function openMirrors({ git, directory, workingDirectory }: MirrorsOptions): Mirrors {
  const mirrors = new Map<string, Promise<Mirror>>();
  const turns = sharedTurns();
  const repositories = recentlyUsed<() => Promise<string>>(keptPlaces);

  /** Returns the result of `repositoryAt`, which runs once for callers within a short time. */
  function repositoryOf(path: string): Promise<string> {
    const find = () => repositoryAt(git, path);
    return repositories.get(path, () => cachedFor(samePlaceMs, () => performance.now(), find))();
  }

  // Tokens in addresses change every hour; the mirror stays the same.
  function mirrorOf(source: string): Promise<Mirror> {
    const key = withoutPassword(source);
    const opened = mirrors.get(key) ?? openMirror(git, directory, source);
    mirrors.set(key, opened);
    opened.catch(() => mirrors.delete(key));
    return opened;
  }

  return {
    async hasCommit(repository, sha) {
      const address = parseRepositoryAddress(repository, workingDirectory);
      const source = address.kind === "local" ? await repositoryOf(address.path) : address.url;
      assertPlainRevision(sha);
      return (await (await mirrorOf(source)).resolve(sha)) === sha;
    },

    async fetchCommit(repository, revision, signal) {
      const address = parseRepositoryAddress(repository, workingDirectory);
      assertPlainRevision(revision);
      const where = address.kind === "local" ? address.path : address.url;
      const source = address.kind === "local" ? await repositoryOf(address.path) : address.url;
      const mirror = await mirrorOf(source);
      const explain = async (reason: unknown): Promise<never> => {
        // The next call makes the mirror again.
        if (!(await mirror.isWhole())) mirrors.delete(withoutPassword(source));
        throw reason;
      };
      const found = async ({ sha, branch, ref }: FoundRevision): Promise<FetchedCommit> => ({
        ...(await mirror.commit(sha)),
        ...(branch === undefined ? {} : { branch }),
        ...(ref === undefined ? {} : { ref }),
        repository: withoutPassword(where),
        mirror: mirror.path,
      });
      // A full id never changes its meaning: if it is in the mirror, no network and no turn is needed.
      const full = CommitSha.safeParse(revision).data;
      if (full !== undefined && (await mirror.resolve(full)) === full) return found({ sha: full });
      // One at a time for each mirror: the second fetch then finds the commits of the first.
      const turn = { queue: withoutPassword(source), name: `${where}\n${revision}` };
      const fetching = turns.run(
        turn,
        (ended) =>
          address.kind === "local"
            ? fetchFromLocal(git, mirror, {
                path: where,
                repository: source,
                revision,
                signal: ended,
              })
            : fetchFromRemote(git, mirror, { url: source, revision, signal: ended }),
        signal,
      );
      return found(await fetching.catch(explain));
    },
  };
}
