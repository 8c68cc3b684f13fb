import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describesBuild, type RepositoryFiles } from "#init/repository-files.ts";
import type { Submodule } from "#init/starter-job.ts";
import { runProgram } from "../run-program.ts";

/** Limits for reading, because the repository is untrusted. */
const mostFiles = 2_000;
const mostBytesOfFile = 16 * 1024 * 1024;

/** Reads the files for `grange init`: tracked files and untracked ones that Git does not ignore. */
export async function listRepository(root: string): Promise<RepositoryFiles> {
  const paths = await gitLines(
    root,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  );
  const texts = new Map<string, string>();
  for (const path of paths.filter(describesBuild).slice(0, mostFiles)) {
    const text = await readSmallFile(join(root, path));
    if (text !== undefined) texts.set(path, text);
  }
  const [submodules, version, nameOnGitHub] = await Promise.all([
    submodulesOf(root),
    newestVersion(root),
    nameOnGitHubOf(root),
  ]);
  return { paths, texts, submodules, version, nameOnGitHub };
}

async function readSmallFile(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    return size > mostBytesOfFile ? undefined : await readFile(path, "utf8");
  } catch {
    // Git also lists files that were removed without a commit, and broken symlinks.
    return undefined;
  }
}

/** Returns submodules with their commits in the index and their addresses from .gitmodules. */
async function submodulesOf(root: string): Promise<Submodule[]> {
  const entries = await gitLines(root, "ls-files", "-z", "--stage");
  const commits = new Map(
    entries.flatMap((entry) => {
      const [, commit = "", path = ""] = /^160000 ([0-9a-f]{40}) 0\t(.+)$/s.exec(entry) ?? [];
      return path === "" ? [] : [[path, commit] as const];
    }),
  );
  if (commits.size === 0) return [];
  const settings = await gitLines(root, "config", "--null", "--file", ".gitmodules", "--list");
  const values = new Map(
    settings.map((line) => [line.slice(0, line.indexOf("\n")), line.slice(line.indexOf("\n") + 1)]),
  );
  return [...values].flatMap(([key, path]) => {
    const url = values.get(key.replace(/\.path$/, ".url"));
    const commit = commits.get(path);
    const isAbsolute = url !== undefined && /^(https?|ssh|git|file):\/\//.test(url);
    return key.endsWith(".path") && commit !== undefined && isAbsolute
      ? [{ path, url, commit }]
      : [];
  });
}

async function newestVersion(root: string): Promise<string | undefined> {
  const [tag = ""] = await gitLines(root, "describe", "--tags", "--abbrev=0");
  return /(\d+(?:\.\d+)+)\s*$/.exec(tag)?.[1];
}

/** Returns `owner/name` from the address of the remote `origin`: `git@github.com:owner/name.git` or https. */
async function nameOnGitHubOf(root: string): Promise<string | undefined> {
  const [address = ""] = await gitLines(root, "config", "--null", "--get", "remote.origin.url");
  return /^(?:\S+[@/])?github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(address)?.[1];
}

/** Returns the NUL-separated output of Git; empty when it fails, as in a repository without a tag. */
async function gitLines(root: string, ...args: string[]): Promise<string[]> {
  const { exitCode, stdout } = await runProgram("git", ["-C", root, ...args]);
  return exitCode === 0 ? stdout.split("\0").filter((line) => line !== "") : [];
}
