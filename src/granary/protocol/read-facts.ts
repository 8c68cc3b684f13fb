import { realpath } from "node:fs/promises";
import { hostname } from "node:os";
import type { Git } from "#git/run-git.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { type BuildFacts, mostNested, type NestedRepository } from "../builds/build-facts.ts";
import { ownVariables } from "../config.ts";
import { branchOfCi } from "../workspace/branch-of-ci.ts";
import { changedPathsSince } from "../workspace/changed-paths.ts";
import {
  defaultSettings,
  type GranarySettings,
  readGranarySettings,
} from "../workspace/granary-settings.ts";
import type { KnownDigests } from "../workspace/known-digests.ts";
import { readEnvironment } from "../workspace/read-environment.ts";
import { readWorkspace } from "../workspace/read-workspace.ts";
import type { GitWorkspace } from "../workspace/workspace.ts";
import type { BuildStarted, Message, Repository } from "./messages.ts";

interface FactsParts {
  readonly git: Git;
  readonly digests: KnownDigests;
}

/** The project of a workspace that names none. */
const projectWithoutName = "default";

/** How long a build waits for Git, in ms; after that its commit is unknown. */
const workspaceMs = 2_000;

/** Returns the facts about a build: from its build system, and otherwise from its workspace. */
export async function readFacts(
  { git, digests }: FactsParts,
  message: BuildStarted | Message<"fetch-ahead">,
): Promise<BuildFacts> {
  const repositories = message.repositories ?? [];
  // The commit of the outer repository names the build. Changes of nested ones make it dirty, because it may read them.
  const [outer, ...inner] = repositories;
  const reading = readNested(git, inner);
  const root = outer?.root ?? message.directory;
  const found =
    root === undefined ||
    (message.repositories !== undefined && outer === undefined) ||
    (outer !== undefined && isComplete(outer))
      ? undefined
      : await readWorkspace(git, root, AbortSignal.timeout(workspaceMs));
  const seen = found?.kind === "git" ? found : undefined;
  const state = stateOf(outer, seen);
  // Below the top of the repository, there are none.
  const top = seen?.root ?? root;
  const variables = "variables" in message ? message.variables : undefined;
  const given = variables ?? ownVariables();
  const settings =
    top === undefined
      ? undefined
      : await readGranarySettings(top).catch((reason: unknown): undefined => {
          // A person gets the error; a build system continues.
          if (variables !== undefined) throw reason;
        });
  const environmentIn = async (root: string | undefined, own: GranarySettings | undefined) =>
    (
      await readEnvironment({
        // Settings that cannot be read must not make two compilers one environment.
        settings: own ?? defaultSettings,
        root,
        variables: given,
        digests,
      })
    ).name;
  return {
    project: message.project ?? settings?.project ?? projectWithoutName,
    ...state,
    branch:
      state.branch || ((seen && branchOfCi(given, seen.repository)) ?? "").slice(0, mostBranch),
    dirty: state.dirty || repositories.some(({ dirty }) => dirty),
    ...(top === undefined ? {} : { root: top }),
    ...(inner.length === 0 ? {} : { nested: await reading }),
    environment: message.environment ?? (await environmentIn(top, settings)),
    machine: hostname().slice(0, 200),
    command: message.command,
    targets: message.targets ?? [...(settings?.targets ?? [])],
    prefetch: message.prefetch ?? true,
  };
}

/** The longest name of a branch that is stored. */
const mostBranch = 255;

/** Whether a tool reports so much of a repository that Git need not be run. */
function isComplete({ tree, parents }: Repository): boolean {
  return tree !== undefined && parents !== undefined;
}

/** Returns the state of a repository: what its tool reports, and the rest from Git if that is at the same commit. */
function stateOf(reported: Partial<Repository> = {}, seen: GitWorkspace | undefined) {
  const same = reported.commit === undefined || seen?.commit === reported.commit ? seen : undefined;
  const commit = reported.commit ?? seen?.commit;
  const parents = reported.parents ?? same?.parents ?? [];
  const dirtyPaths =
    reported.dirtyPaths ?? (same?.dirtyPathsCut === false ? same.dirtyPaths : undefined);
  return {
    repository: (reported.name ?? seen?.repository ?? "").slice(0, 200),
    commits: commit === undefined ? [] : [commit, ...parents].slice(0, 64),
    tree: reported.tree ?? same?.tree ?? "",
    branch: (reported.branch || seen?.branch || "").slice(0, mostBranch),
    dirty: reported.dirty === true || same?.dirty === true,
    ...(dirtyPaths === undefined ? {} : { dirtyPaths: dirtyPaths.slice(0, 10_000) }),
  };
}

/**
 * Returns the state of nested repositories in their order. One that is not a repository of its own has no commit, so
 * nothing is indexed for it.
 */
export async function readNested(
  git: Git,
  repositories: readonly Repository[],
): Promise<NestedRepository[]> {
  const signal = AbortSignal.timeout(workspaceMs);
  return mapAtMost(readsAtOnce, repositories.slice(0, mostNested), async (reported) => {
    const { root } = reported;
    const found = isComplete(reported)
      ? undefined
      : await readWorkspace(git, root, signal).catch(() => undefined);
    // Git would otherwise answer for the outer repository.
    const isOwn = found?.kind === "git" && found.root === (await realpath(root).catch(() => root));
    return { root, ...stateOf(reported, isOwn ? found : undefined) };
  });
}

/** Repositories that Git reads at the same time. */
const readsAtOnce = 4;

/** Returns the paths that differ between a commit and the tree of a build, for filtering an ancestor's index. */
export async function changedSince(
  git: Git,
  facts: BuildFacts,
  commit: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const [own, ...parents] = facts.commits;
  if (facts.root === undefined || own === undefined) return undefined;
  const workspace: GitWorkspace = {
    kind: "git",
    root: facts.root,
    commit: own,
    tree: facts.tree,
    branch: facts.branch,
    parents,
    dirty: facts.dirty,
    dirtyPaths: facts.dirtyPaths ?? [],
    dirtyPathsCut: facts.dirty && facts.dirtyPaths === undefined,
    repository: facts.repository,
  };
  return changedPathsSince(git, workspace, commit, signal);
}
