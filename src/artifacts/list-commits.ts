import { join, resolve } from "node:path";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { gitFault } from "#git/git-fault.ts";
import { parseRepositoryAddress } from "#git/repository-address.ts";
import type { Git } from "#git/run-git.ts";

interface ListedCommit {
  readonly sha: CommitSha;
  readonly committedAt: Date;
}

export interface ListedCommits {
  /** The commits of the branch, by first parents, the newest first. */
  readonly line: readonly ListedCommit[];
  readonly tags: readonly (ListedCommit & { readonly name: string })[];
}

interface WhichCommits {
  readonly repository: string;
  readonly branch: string;
  /** Which tags are wanted. */
  readonly isRelease: (tag: string) => boolean;
}

/** More than a cron entry ever requests; a search further back uses commit ids. */
const mostCommits = 2_000;
/** The limit for tags; the newest by name. */
const mostTags = 100;

/**
 * Returns the commits of a branch and of tags. From a remote repository, only commits and no files are fetched, if its
 * server supports that; `folder` is temporary and private. Throws `permission_denied` for a host that Git must not
 * contact.
 */
export async function listCommits(
  git: Git,
  { repository, branch, isRelease }: WhichCommits,
  folder: string,
  signal?: AbortSignal,
): Promise<ListedCommits> {
  const address = parseRepositoryAddress(repository, resolve("."));
  const access = await git.accessTo(address.kind === "local" ? address.path : address.url);
  const from = access.url;
  const options = { ...(signal && { signal }), access };
  const run = async (args: readonly string[], directory?: string) => {
    const { exitCode, stdout, stderr } = await git.run(args, {
      ...options,
      timeoutMs: 10 * 60_000,
      ...(directory === undefined ? {} : { directory }),
    });
    if (exitCode !== 0) throw gitFault(repository, stderr);
    return stdout.toString();
  };

  const refs = parseRefs(await run(["ls-remote", "--end-of-options", from]));
  const head = refs.get(`refs/heads/${branch}`);
  if (head === undefined)
    throw new Fault(
      "not_found",
      `${repository} has no branch ${branch}; name another in the suite`,
    );
  const tags = releaseTags(refs, isRelease);
  const wanted = [head, ...tags.map(({ sha }) => sha)];
  let directory = from;
  if (address.kind === "remote") {
    directory = join(folder, "commits.git");
    await run(["init", "--quiet", "--bare", directory]);
    await run(
      [
        "fetch",
        "--quiet",
        "--no-tags",
        "--filter=tree:0",
        `--depth=${mostCommits}`,
        "--end-of-options",
        from,
        ...new Set(wanted),
      ],
      directory,
    );
  }
  const line = await run(
    [
      "log",
      "--first-parent",
      "-n",
      String(mostCommits),
      "--format=%H %ct",
      "--end-of-options",
      head,
    ],
    directory,
  );
  const dates =
    tags.length === 0
      ? ""
      : await run(
          ["log", "--no-walk=unsorted", "--format=%H %ct", "--end-of-options", ...new Set(wanted)],
          directory,
        );
  const dateOf = new Map(parseCommits(dates).map(({ sha, committedAt }) => [sha, committedAt]));
  return {
    line: parseCommits(line),
    tags: tags.flatMap(({ name, sha }) => {
      const committedAt = dateOf.get(sha);
      return committedAt === undefined ? [] : [{ name, sha, committedAt }];
    }),
  };
}

/** Returns a map from names to ids; for annotated tags, the id of the commit, which follows as `NAME^{}`. */
function parseRefs(text: string): Map<string, CommitSha> {
  const refs = new Map<string, CommitSha>();
  for (const line of text.split("\n")) {
    const [id, name] = line.split("\t");
    const sha = CommitSha.safeParse(id);
    if (sha.success && name !== undefined) refs.set(name.replace(/\^\{\}$/, ""), sha.data);
  }
  return refs;
}

function releaseTags(
  refs: ReadonlyMap<string, CommitSha>,
  isRelease: (tag: string) => boolean,
): { readonly name: string; readonly sha: CommitSha }[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  return [...refs]
    .flatMap(([ref, sha]) => {
      const name = /^refs\/tags\/([A-Za-z0-9][A-Za-z0-9._+/-]{0,119})$/.exec(ref)?.[1];
      return name !== undefined && isRelease(name) ? [{ name, sha }] : [];
    })
    .toSorted((a, b) => compare(b.name, a.name))
    .slice(0, mostTags);
}

function parseCommits(text: string): ListedCommit[] {
  return text.split("\n").flatMap((line) => {
    const [id, seconds] = line.split(" ");
    const sha = CommitSha.safeParse(id);
    return sha.success ? [{ sha: sha.data, committedAt: new Date(Number(seconds) * 1_000) }] : [];
  });
}
