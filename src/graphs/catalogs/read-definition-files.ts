import { setImmediate } from "node:timers/promises";
import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { problemNowhere } from "#definitions/definition-origin.ts";
import {
  type DefinitionProblem,
  DefinitionProblems,
  throwIfAny,
} from "#definitions/definition-problems.ts";
import { checkTop, templatesIn } from "#definitions/read-templates.ts";
import { readSourceFile, type SourceFile } from "#definitions/source-file.ts";
import type { Templates } from "#definitions/templates.ts";
import { type CommitEntry, listCommitTree } from "#git/commit-tree.ts";
import { gitFault } from "#git/git-fault.ts";
import { readObjects } from "#git/read-objects.ts";
import type { Git } from "#git/run-git.ts";
import type { CatalogCache } from "./catalog-cache.ts";

/** The directory in which a repository has its definitions. */
export const definitionsDirectory = ".grange";

/** A commit in a mirror. */
export interface MirroredCommit {
  readonly mirror: string;
  readonly sha: CommitSha;
}

/** Git's id of the directory of definitions; undefined when the commit has none. */
export async function definitionsTree(
  git: Git,
  { mirror, sha }: MirroredCommit,
): Promise<string | undefined> {
  const name = `${sha}:${definitionsDirectory}`;
  const { exitCode, stdout, stderr } = await git.run(["rev-parse", "--verify", "--quiet", name], {
    directory: mirror,
  });
  if (exitCode === 0) return stdout.toString("latin1").trim();
  // With `--quiet`, this exit code means that the commit has no such directory.
  if (exitCode === 1) return undefined;
  throw gitFault(mirror, stderr);
}

/** Lists the files in the directory of definitions, and below it. */
export async function listDefinitions(
  git: Git,
  { mirror, sha }: MirroredCommit,
): Promise<readonly CommitEntry[]> {
  return (await listCommitTree(git, mirror, sha, definitionsDirectory)).entries;
}

/**
 * Reads `.grange/*.yml` and `.grange/*.yaml` of a commit. Subdirectories are ignored, because other tools may use them.
 *
 * `entries`: what `listDefinitions` returned. Files that were read before, in any commit, are not read again. Throws
 * `DefinitionProblems`.
 */
export async function readDefinitionFiles(
  git: Git,
  commit: MirroredCommit,
  entries: readonly CommitEntry[],
  cache: CatalogCache,
): Promise<Templates> {
  const files = entries
    .filter(({ kind, path }) => kind === "file" && path.split("/").length === 2)
    .filter(({ path }) => isDefinitionFile(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (files.length === 0) throw noDefinitions(commit.sha);
  if (files.length > definitionLimits.files) throw tooMuch();

  const sources = new Map<string, SourceFile>();
  // By path, too: a problem names the file, and two files may have the same content.
  const keyOf = (file: { readonly gitId: string; readonly path: string }) =>
    `${file.gitId} ${file.path}`;
  const unread = files.filter((file) => {
    const known = cache.files.peek(keyOf(file));
    if (known !== undefined) sources.set(file.path, known);
    return known === undefined;
  });
  const problems: DefinitionProblem[] = [];
  const decoder = new TextDecoder();
  let total = [...sources.values()].reduce((sum, source) => sum + source.length, 0);
  let next = 0;
  const budget = { bytes: definitionLimits.allWholeYamlBytes };
  for await (const object of readObjects(
    git,
    commit.mirror,
    unread.map(({ gitId }) => gitId),
  )) {
    const file = unread[next++];
    if (file === undefined) break;
    total += object.sizeBytes;
    if (total > definitionLimits.allBytes) throw tooMuch();
    if (object.sizeBytes > definitionLimits.fileBytes) {
      problems.push(problemNowhere("is larger than 1 MiB; split it into several files", file.path));
      continue;
    }
    // Yields, so that the farm can answer other requests.
    await setImmediate();
    const source = readSourceFile(file.path, decoder.decode(await object.take()), budget);
    if (Array.isArray(source)) problems.push(...source);
    else {
      checkTop(source);
      cache.files.set(keyOf(file), source);
      sources.set(file.path, source);
    }
  }
  throwIfAny(problems);
  return templatesIn(files.flatMap(({ path }) => sources.get(path) ?? []));
}

export function isDefinitionFile(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

export function noDefinitions(sha: string): DefinitionProblems {
  const message = `commit ${sha.slice(0, 10)} has no definitions: add ${definitionsDirectory}/farm.yml ("grange init" writes a first one), or give definitions along`;
  return new DefinitionProblems([problemNowhere(message)]);
}

function tooMuch(): Fault {
  return new Fault(
    "resource_exhausted",
    `the definitions have more than 40 MiB or ${definitionLimits.files} files in total`,
  );
}
