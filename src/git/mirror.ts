import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CommitSha } from "#core/commit-sha.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { syncDirectory, syncFile } from "#machine/write-durably.ts";
import { type Commit, readCommit } from "./commit.ts";
import { gitFault } from "./git-fault.ts";
import { withoutPassword } from "./repository-address.ts";
import type { Git } from "./run-git.ts";
import { removeAbandoned, tendMirror } from "./tend-mirror.ts";

/** The farm's bare copy of a repository: the requested commits, and their history. */
export interface Mirror {
  /** Its directory. */
  readonly path: string;
  /** Returns the id of a commit in the mirror; undefined when it is absent or the name is not plain. */
  resolve(revision: string): Promise<CommitSha | "ambiguous" | undefined>;
  /** Reads a commit of the mirror, by its full id; rejects when it is absent. */
  commit(sha: CommitSha): Promise<Commit>;
  /** Fetches one ref or id with its history; returns false when the server refuses it. */
  fetch(source: string, revision: string, signal?: AbortSignal): Promise<boolean>;
  /** Fetches all branches and tags. */
  fetchAll(source: string, signal?: AbortSignal): Promise<void>;
  /** Returns false when its files are certainly not those of a repository: it must then be opened again. */
  isWhole(): Promise<boolean>;
}

const fetchTimeoutMs = 10 * 60_000;

/** No fetch lives longer than its timeout, so a lock of this age has no owner. */
const abandonedAfterMs = fetchTimeoutMs + 5 * 60_000;

const attempts = 5;

/** Each takes some hundred bytes. */
const keptCommits = 10_000;

/**
 * Opens the mirror of `source` (a URL or a path) in a directory of mirrors. Creates it when it is new, and again when
 * its files are not those of a repository: everything in a mirror can be fetched once more.
 */
export async function openMirror(git: Git, directory: string, source: string): Promise<Mirror> {
  const path = join(directory, mirrorName(source));
  if (await isRepository(path)) await removeAbandoned(path, abandonedAfterMs);
  else {
    await removeMirror(directory, path);
    await createMirror(git, directory, path);
  }

  async function fetchInto(
    source: string,
    refspecs: readonly string[],
    signal: AbortSignal | undefined,
    ...more: readonly string[]
  ): Promise<{ readonly done: true } | { readonly done: false; readonly stderr: string }> {
    const args = ["fetch", "--quiet", "--no-tags", "--update-shallow", "--no-write-fetch-head"];
    const access = await git.accessTo(source);
    const limits = { timeoutMs: fetchTimeoutMs, ...(signal && { signal }) };
    const options = { directory: path, access, ...limits };
    for (let attempt = 1; ; attempt++) {
      const { exitCode, stderr } = await git.run(
        [...args, ...more, "--end-of-options", access.url, ...refspecs],
        options,
      );
      if (exitCode === 0) {
        fetches += 1;
        return { done: true };
      }
      // Another process is fetching into this mirror.
      const isLocked = /\.lock|cannot lock ref/i.test(stderr);
      if (!isLocked || attempt === attempts) return { done: false, stderr };
      await wait(attempt * 200 * (0.5 + Math.random()), undefined, { signal });
    }
  }

  /** By full id: a mirror never loses a commit, and its text never changes. */
  const known = recentlyUsed<Commit>(keptCommits);
  /** By the number of fetches before it and the id: a read that began before a fetch may not see its commits. */
  const reads = new Map<string, Promise<Commit>>();
  let fetches = 0;

  async function readAndKeep(sha: CommitSha): Promise<Commit> {
    const commit = await readCommit(git, path, sha);
    known.set(sha, commit);
    return commit;
  }

  async function commit(sha: CommitSha): Promise<Commit> {
    const there = known.peek(sha);
    if (there !== undefined) return there;
    const key = `${fetches} ${sha}`;
    const read = reads.get(key) ?? readAndKeep(sha).finally(() => reads.delete(key));
    reads.set(key, read);
    return read;
  }

  return {
    path,
    commit,

    async resolve(revision) {
      const full = CommitSha.safeParse(revision).data;
      // The text of the commit is needed next in any case.
      if (full !== undefined)
        return commit(full).then(
          ({ sha }) => sha,
          () => undefined,
        );
      const { exitCode, stdout, stderr } = await git.run(
        ["rev-parse", "--verify", "--end-of-options", `${revision}^{commit}`],
        { directory: path },
      );
      if (exitCode === 0) return CommitSha.parse(stdout.toString("latin1").trim());
      return /ambiguous/i.test(stderr) ? "ambiguous" : undefined;
    },

    async fetch(source, revision, signal) {
      // Each fetch has a ref of its own: two fetches never wait for one lock, and the lock of a killed fetch blocks no
      // other.
      const kept = `refs/grange/fetched/${randomUUID()}`;
      const fetched = await fetchInto(source, [`+${revision}:${kept}`], signal);
      if (fetched.done) {
        await tendMirror(git, path);
        return true;
      }
      if (isRefused(fetched.stderr)) return false;
      throw gitFault(source, fetched.stderr);
    },

    async fetchAll(source, signal) {
      const refspecs = ["heads", "tags"].map((kind) => `+refs/${kind}/*:refs/grange/${kind}/*`);
      const fetched = await fetchInto(source, refspecs, signal, "--prune");
      if (!fetched.done) throw gitFault(source, fetched.stderr);
    },

    // A disk that does not answer is no sign of damage.
    isWhole: () => isRepository(path).catch(() => true),
  };
}

/** Returns whether the server responded, but does not have or refuses the revision. */
function isRefused(stderr: string): boolean {
  return /not our ref|couldn't find remote ref|unadvertised object|no such remote ref|bad object/i.test(
    stderr,
  );
}

/** Returns a readable name that is unique to this source. */
function mirrorName(source: string): string {
  const shown = basename(withoutPassword(source).replace(/\/?(\.git)?\/?$/, ""));
  const slug = shown.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 40) || "repository";
  const hash = createHash("sha256").update(withoutPassword(source)).digest("hex").slice(0, 16);
  return `${slug.replace(/^[.-]+/, "")}-${hash}.git`;
}

/** Returns whether a directory has what Git expects of a repository. Throws when the disk does not answer. */
async function isRepository(path: string): Promise<boolean> {
  const text = (name: string) => readFile(join(path, name), "latin1").catch(absent);
  const directory = (name: string) => stat(join(path, name)).catch(absent);
  const head = (await text("HEAD")) ?? "";
  const config = (await text("config")) ?? "";
  if (!head.startsWith("ref: ") || !config.includes("[core]")) return false;
  return (await directory("objects")) !== undefined && (await directory("refs")) !== undefined;
}

/** Only a file that is certainly absent is a sign of damage: after any other error the mirror must stay. */
function absent(reason: unknown): undefined {
  if ((reason as NodeJS.ErrnoException).code !== "ENOENT") throw reason;
}

async function removeMirror(directory: string, path: string): Promise<void> {
  const aside = join(directory, `.broken-${randomUUID()}`);
  await rename(path, aside).catch(absent);
  await rm(aside, { recursive: true, force: true });
}

/**
 * Creates it in a temporary directory and renames it, so that a mirror is complete or absent. Its files are synced
 * before that: Git syncs what it fetches, and not the repository into which it does so.
 */
async function createMirror(git: Git, directory: string, path: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const aside = join(directory, `.new-${randomUUID()}`);
  const { exitCode, stderr } = await git.run(["init", "--quiet", "--bare", "--template=", aside]);
  if (exitCode !== 0) throw gitFault(aside, stderr);
  await syncBelow(aside);
  await rename(aside, path).catch(async (reason: unknown) => {
    await rm(aside, { recursive: true, force: true });
    // Another process was faster; its mirror serves as well.
    if (!(await stat(path).catch(() => undefined))) throw reason;
  });
  await syncDirectory(directory);
}

async function syncBelow(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await syncBelow(path);
    else await syncFile(path);
  }
  await syncDirectory(directory);
}
