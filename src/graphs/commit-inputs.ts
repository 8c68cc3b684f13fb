import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import type { CommitSha } from "#core/commit-sha.ts";
import type { Digest } from "#core/digest.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import { type CommitEntry, type CommitTree, listCommitTree } from "#git/commit-tree.ts";
import type { Mirrors } from "#git/fetch-commit.ts";
import { importTree } from "#git/import-tree.ts";
import { serverOfLfsConfig } from "#git/lfs/lfs-config.ts";
import { replacePointers, usesLfs } from "#git/lfs/replace-pointers.ts";
import type { Git } from "#git/run-git.ts";
import { readSubmoduleUrls, type Submodule, submodulesOf } from "#git/submodules.ts";
import { nameOfFiles } from "./approximations/name-of-files.ts";
import { selectInputs } from "./select-inputs.ts";

/** A commit, and where it can be fetched from again. */
export interface CommitPlace {
  /** The URL as in `repository.url`. */
  readonly url: string;
  readonly sha: CommitSha;
}

/** The files of a commit that a job reads; all their blobs are in the store. */
export interface CommitInputs {
  readonly entries: readonly TreeEntry[];
  /** The tree of exactly these files. */
  readonly root: Digest;
}

/** A function that selects files of a commit. It must be pure, because its result is cached. */
type Choice = (entries: readonly CommitEntry[]) => readonly CommitEntry[];

interface CommitInputServices {
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly db: Tx;
  /** Its `findMissing` must report the present state, without a cache. */
  readonly store: BlobStore;
}

interface ReadingOptions {
  /** Paths of submodules, which are read separately, so patterns that match something in one are not a mistake. */
  readonly submodules?: readonly string[];
  /** Whether files that Git LFS keeps are read, or their pointers. Default: the files. */
  readonly lfs?: boolean | undefined;
}

/** How many commits and selections of files are cached. */
const kept = { commits: 16, selections: 256, names: 4_096 };

/**
 * How long a selection counts as present without checking the store: the typical time of repeated requests of a build.
 */
const leastTrustMs = 10_000;
/** A check takes about 20 µs per blob, so checks take one fiftieth of the time for any size of selection. */
const trustMsPerBlob = 1;

interface Selection {
  readonly inputs: CommitInputs;
  readonly blobs: readonly Digest[];
  /** The last time at which all of it was found in the store, by `performance.now()`. */
  seenAtMs: number;
  looking: Promise<boolean> | undefined;
}

/** What is known of commits. It does not depend on the store of their files. */
class KnownCommits {
  readonly mirrors = recentlyUsed<Promise<string>>(kept.commits);
  readonly trees = recentlyUsed<Promise<CommitTree>>(kept.commits);
  readonly lfs = recentlyUsed<Promise<boolean>>(kept.commits);
  readonly submoduleUrls = recentlyUsed<ReturnType<typeof readSubmoduleUrls>>(kept.names);
  readonly names = recentlyUsed<Promise<string>>(kept.names);
  doubtedAtMs = -Infinity;
}

/**
 * Imports files of commits into the store, for jobs to read.
 *
 * The jobs of a graph mostly read the same few selections of one commit: each is listed, imported and built once,
 * however many jobs request it at the same time. From time to time its presence in the store is checked; missing blobs
 * are imported from Git again.
 */
export class CommitInputReader {
  readonly #services: CommitInputServices;
  readonly #known: KnownCommits;
  readonly #selections = recentlyUsed<Promise<Selection>>(kept.selections);

  constructor(services: CommitInputServices, known = new KnownCommits()) {
    this.#services = services;
    this.#known = known;
  }

  /** Returns a reader that imports into another store. Both share what they know of commits. */
  inStore(store: BlobStore): CommitInputReader {
    return new CommitInputReader({ ...this.#services, store }, this.#known);
  }

  /** Records the mirror of a just fetched commit, so that it is not fetched again. */
  know(commit: CommitPlace, mirror: string): void {
    this.#known.mirrors.set(`${commit.url}\n${commit.sha}`, Promise.resolve(mirror));
  }

  /** Without a list of patterns, all files; with an empty one, none. */
  read(
    commit: CommitPlace,
    patterns?: readonly string[],
    { submodules = [], lfs = true }: ReadingOptions = {},
  ): Promise<CommitInputs> {
    const chosen = JSON.stringify([patterns ?? "all", submodules, lfs]);
    return this.#stored(`${commit.url}\n${commit.sha}\n${chosen}`, () =>
      this.#select(commit, lfs, (entries) => selectInputs(entries, patterns, submodules)),
    );
  }

  /**
   * Returns the files that a function selects; `rule` is a name for that selection among those of
   * one commit.
   */
  readChosen(
    commit: CommitPlace,
    rule: string,
    choose: Choice,
    { lfs = true }: Pick<ReadingOptions, "lfs"> = {},
  ): Promise<CommitInputs> {
    const key = `${commit.url}\n${commit.sha}\nchosen ${lfs} ${rule}`;
    return this.#stored(key, () => this.#select(commit, lfs, choose));
  }

  /** Must be called when blobs were lost: every selection is checked in its store before its next use. */
  doubt(): void {
    this.#known.doubtedAtMs = performance.now();
  }

  /** Returns a name for the chosen files, usually a digest of their contents. Reads none of them. */
  nameChosen(
    commit: CommitPlace,
    rule: string,
    choose: Choice,
    name: (chosen: readonly CommitEntry[]) => string = nameOfFiles,
  ): Promise<string> {
    const key = `${commit.url}\n${commit.sha}\n${rule}`;
    return this.#known.names.get(key, async () => name(choose((await this.#list(commit)).entries)));
  }

  /** Returns a selection that is complete in the store; makes it again if it is not. */
  async #stored(key: string, select: () => Promise<Selection>): Promise<CommitInputs> {
    const made = this.#selections.get(key, select);
    const selection = await made;
    if (await this.#isStored(selection)) return selection.inputs;
    // Another caller may have begun to replace it.
    if (this.#selections.peek(key) === made) this.#selections.forget(key);
    return (await this.#selections.get(key, select)).inputs;
  }

  async #isStored(selection: Selection): Promise<boolean> {
    const trustMs = Math.max(leastTrustMs, selection.blobs.length * trustMsPerBlob);
    const now = performance.now();
    const isTrusted =
      selection.seenAtMs > this.#known.doubtedAtMs && now - selection.seenAtMs < trustMs;
    if (isTrusted) return true;
    selection.looking ??= (async () => {
      try {
        const missing = await this.#services.store.findMissing(selection.blobs);
        if (missing.length === 0) selection.seenAtMs = now;
        return missing.length === 0;
      } finally {
        selection.looking = undefined;
      }
    })();
    return selection.looking;
  }

  async #select(commit: CommitPlace, lfs: boolean, choose: Choice): Promise<Selection> {
    const { store, git } = this.#services;
    const { mirror, entries: all } = await this.#list(commit);
    const seenAtMs = performance.now();
    const imported = await importTree(this.#services, mirror, choose(all));
    const entries =
      lfs && (await this.#usesLfs(commit, mirror, all))
        ? await replacePointers(
            { git, store, namedServer: () => serverOfLfsConfig(git, mirror, commit.sha) },
            commit.url,
            imported.entries,
          )
        : imported.entries;
    const tree = buildDirectoryTree(entries);
    const root = await uploadDirectories(store, tree);
    const blobs = [
      ...[...tree.directories.values()].map(({ digest }) => digest),
      ...entries.flatMap((entry) => (entry.kind === "file" ? [entry.digest] : [])),
    ];
    return { inputs: { entries, root }, blobs, seenAtMs, looking: undefined };
  }

  /** Returns the submodules of a commit without fetching them. */
  async submodules(commit: CommitPlace): Promise<Submodule[]> {
    const { git } = this.#services;
    // Jobs that may read submodules read files of the commit, which is listed for these in any case.
    const { mirror, links } = await this.#list(commit);
    if (links.length === 0) return [];
    const urls = await this.#known.submoduleUrls.get(`${mirror}\n${commit.sha}`, () =>
      readSubmoduleUrls(git, mirror, commit.sha),
    );
    return urls === undefined ? [] : submodulesOf(commit.url, links, urls);
  }

  #usesLfs(
    { url, sha }: CommitPlace,
    mirror: string,
    entries: readonly CommitEntry[],
  ): Promise<boolean> {
    return this.#known.lfs.get(`${url}\n${sha}`, () =>
      usesLfs(this.#services.git, mirror, entries),
    );
  }

  #mirrorOf(commit: CommitPlace): Promise<string> {
    return this.#known.mirrors.get(`${commit.url}\n${commit.sha}`, () => this.#fetch(commit));
  }

  async #list(commit: CommitPlace): Promise<CommitTree & { readonly mirror: string }> {
    const key = `${commit.url}\n${commit.sha}`;
    const mirror = await this.#mirrorOf(commit);
    const tree = await this.#known.trees.get(key, () =>
      listCommitTree(this.#services.git, mirror, commit.sha),
    );
    return { mirror, ...tree };
  }

  async #fetch(commit: CommitPlace): Promise<string> {
    return (await this.#services.mirrors.fetchCommit(commit.url, commit.sha)).mirror;
  }
}
