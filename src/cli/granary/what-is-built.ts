import { join } from "node:path";
import type { z } from "zod";
import { Fault } from "#core/fault.ts";
import { type Git, openGit } from "#git/run-git.ts";
import { ownVariables } from "#granary/config.ts";
import type { ClientMessage } from "#granary/protocol/messages.ts";
import { branchOfCi } from "#granary/workspace/branch-of-ci.ts";
import { readGranarySettings } from "#granary/workspace/granary-settings.ts";
import { openKnownDigests } from "#granary/workspace/known-digests.ts";
import { readEnvironment } from "#granary/workspace/read-environment.ts";
import { readWorkspace } from "#granary/workspace/read-workspace.ts";
import type { GitWorkspace } from "#granary/workspace/workspace.ts";
import { UsageError } from "../usage-error.ts";

type BuildStarted = Extract<z.input<typeof ClientMessage>, { type: "build-started" }>;
type WhatIsBuilt = Omit<BuildStarted, "type">;

interface SaidOfBuild {
  readonly directory: string;
  readonly project?: string | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly command: string;
  /** A commit other than that of the checkout. */
  readonly commit?: string | undefined;
  readonly dataDirectory: string;
}

/** How long to wait for Git, in ms; after that, the commit of the build is unknown. */
const workspaceMs = 3_000;

/** Returns the facts about a build in this directory for the granary: its commit, its environment, its project. */
export async function whatIsBuilt(given: SaidOfBuild): Promise<WhatIsBuilt> {
  const git = await openGit(join(given.dataDirectory, "git"));
  try {
    const found = await readWorkspace(git, given.directory, AbortSignal.timeout(workspaceMs));
    if (found.kind === "plain") {
      throw new Fault("failed_precondition", `${found.message}; prefetching needs a commit`);
    }
    const settings = await readGranarySettings(found.root);
    const environment = await readEnvironment({
      settings,
      root: found.root,
      variables: ownVariables(),
      digests: await openKnownDigests(given.dataDirectory),
    });
    const targets = given.targets ?? settings.targets;
    const project = given.project ?? settings.project;
    const repositories: NonNullable<WhatIsBuilt["repositories"]> = [];
    if (found.kind === "git") {
      const other =
        given.commit === undefined ? undefined : await otherCommit(git, found, given.commit);
      repositories.push({
        root: found.root,
        branch: (found.branch || branchOfCi(ownVariables(), found.repository)).slice(0, 255),
        name: found.repository.slice(0, 200),
        ...(other ?? {
          commit: found.commit,
          tree: found.tree,
          parents: found.parents.slice(0, 63),
          dirty: found.dirty,
          ...(found.dirtyPathsCut ? {} : { dirtyPaths: found.dirtyPaths.slice(0, 10_000) }),
        }),
      });
    }
    return {
      directory: found.root,
      repositories,
      environment: environment.name,
      command: given.command.slice(0, 1_024),
      ...(project === undefined ? {} : { project }),
      targets: [...targets],
    };
  } finally {
    await git.stop();
  }
}

/** Returns a commit that is not checked out; undefined when it is the checked-out one, and no other is meant. */
async function otherCommit(git: Git, { root, commit }: GitWorkspace, rev: string) {
  const say = async (...args: string[]) => {
    const { exitCode, stdout } = await git.run(args, { directory: root });
    if (exitCode === 0)
      return stdout
        .toString()
        .split("\n")
        .filter((line) => line !== "");
    throw new UsageError(`"${rev}" is not a commit of ${root}`);
  };
  const [id = ""] = await say(
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${rev}^{commit}`,
  );
  if (id === commit) return undefined;
  const [, ...parents] = await say("rev-list", "--first-parent", "--max-count=64", id);
  const [tree = ""] = await say("rev-parse", `${id}^{tree}`);
  return { commit: id, tree, parents, dirty: false };
}
