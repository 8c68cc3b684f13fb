import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Returns the directories that Git has to trust (`safe.directory`) to read the repository at a path, and no others.
 *
 * Git refuses to read a repository of another user unless it is named so. The path may be a directory in a checkout
 * or in a worktree: Git then compares the top of the checkout, and where the objects are read, the `.git` itself.
 */
export function trustedDirectories(path: string): string[] {
  const real = realPath(path);
  const top = repositoryAbove(real);
  if (top === undefined) return unique([path, real]);
  const dotGit = join(top, ".git");
  if (!existsSync(dotGit)) {
    // The repository is bare, or the path was the `.git` of a checkout.
    const checkout = basename(top) === ".git" ? [dirname(top)] : [];
    return unique([path, real, top, ...checkout]);
  }
  return unique([path, real, top, realPath(dotGit), ...linkedFrom(top, dotGit)]);
}

/** For a worktree: its own directory in the repository, the repository, and the checkout that it belongs to. */
function linkedFrom(top: string, dotGit: string): string[] {
  if (statSync(dotGit, { throwIfNoEntry: false })?.isFile() !== true) return [];
  const target = /^gitdir: (.+)$/m.exec(textOf(dotGit))?.[1];
  if (target === undefined) return [];
  const own = realPath(resolve(top, target));
  const common = realPath(resolve(own, textOf(join(own, "commondir")).trim() || "."));
  return [own, common, ...(basename(common) === ".git" ? [dirname(common)] : [])];
}

/** The first directory on the way up that is a checkout or a repository, as Git looks for it. */
function repositoryAbove(path: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(join(at, ".git")) || isRepository(at)) return at;
    if (at === dirname(at)) return undefined;
  }
}

function isRepository(at: string): boolean {
  return existsSync(join(at, "HEAD")) && existsSync(join(at, "objects"));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns each path once, without those that Git would interpret as a pattern or could not read. */
function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => !/\p{Cc}|\*$/u.test(path));
}
