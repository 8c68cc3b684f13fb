import type { Command } from "commander";
import type { BranchBody } from "#api/branch.ts";
import type { BranchOptions } from "../branch-change.ts";
import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import type { ExitCode } from "../exit-code.ts";
import { priorityNumber } from "../priority-number.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";

interface WhereOptions extends CommonOptions {
  readonly repo?: string;
}

interface ChangeOptions extends WhereOptions, BranchOptions {
  readonly reason?: string;
  readonly dryRun?: boolean;
}

export const describeBranch: Describe = (command) => {
  describeShow(command);
  describeSet(command);
  describeUnset(command);
  withExamples(command, [
    ["show the settings of all branches of this repository", "branch show"],
    [
      "protect a release branch",
      "branch set release --protect --cap 50 pgo=on --reason 'ships on Monday'",
    ],
    ["set a switch for all branches", "branch set '*' l10n=off"],
    ["remove the setting of one switch", "branch unset release pgo"],
  ]);
};

function where(command: Command): Command {
  return speaksToServer(command).option(
    "--repo <repository>",
    "a name, path or URL (default: the current one)",
  );
}

function describeShow(command: Command): void {
  where(command.command("show [branch]"))
    .description("show the settings of a branch, and who set them; * means all branches")
    .action((branch: string | undefined, options: WhereOptions) =>
      inSession(options, async (session) => {
        const { branchLines } = await import("../branch-lines.ts");
        const { repositoryHere } = await import("../repository-here.ts");
        const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
        const repository = await repositoryHere(options.repo, process.cwd());
        const shown =
          branch === undefined
            ? await session.api.call(catalogEndpoints.branches, { params: { repository } })
            : [await session.api.call(catalogEndpoints.branch, { params: { repository, branch } })];
        return answer(session, options, branch === undefined ? shown : shown[0], () =>
          shown.flatMap((each) => branchLines(each, session.terminal.answer.paint)),
        );
      }),
    );
}

function changes(command: Command): Command {
  return where(command)
    .option("--reason <text>", "the reason, which others can read later")
    .option("--dry-run", "only print the settings that would result");
}

function describeSet(command: Command): void {
  changes(command.command("set <branch> [switches...]"))
    .description("change settings of a branch: switches as NAME=VALUE, and options")
    .option("--protect", "protect the branch: only signed and uncustomised definitions run there")
    .option("--no-protect", "do not protect the branch")
    .option("--customisable", "allow customised jobs there")
    .option("--no-customisable", "do not allow customised jobs there")
    .option("--cap <n>", "the highest priority of its graphs", priorityNumber)
    .option("--param <name=value>", "a parameter of the definitions; may be repeated", repeated)
    .option(
      "--source <source>",
      "the source of its definitions: commit, pushed, directory:PATH, repository:ADDRESS@REVISION",
    )
    .action((branch: string, switches: string[], options: ChangeOptions) =>
      inSession(options, async (session) => {
        const { changedBody } = await import("../branch-change.ts");
        return change(session, branch, options, (own) => changedBody(own, switches, options));
      }),
    );
}

function describeUnset(command: Command): void {
  changes(command.command("unset <branch> [names...]"))
    .description(
      "remove settings: switches and parameters by name, protect, customisable, cap, source; or all",
    )
    .action((branch: string, names: string[], options: ChangeOptions) =>
      inSession(options, async (session) => {
        const { reducedBody } = await import("../branch-change.ts");
        return change(session, branch, options, (own) => reducedBody(own, names));
      }),
    );
}

/**
 * Changes the entry that was read: if another user changed it in between, this fails instead of overwriting the change.
 */
async function change(
  session: Session,
  branch: string,
  options: ChangeOptions,
  changed: (own: BranchBody | null) => BranchBody | null,
): Promise<ExitCode> {
  const { ApiFailure } = await import("../api/api-failure.ts");
  const { branchLines } = await import("../branch-lines.ts");
  const { repositoryHere } = await import("../repository-here.ts");
  const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
  const repository = await repositoryHere(options.repo, process.cwd());
  const before = await session.api
    .call(catalogEndpoints.branch, { params: { repository, branch } })
    .catch((reason: unknown) => {
      // A repository that is unknown to the farm has no entry.
      if (reason instanceof ApiFailure && reason.code === "not_found") return undefined;
      throw reason;
    });
  // Changes are numbered from 1: after 0, there must be none.
  const after = before?.history[0]?.number ?? 0;
  const now = await session.api.call(catalogEndpoints.setBranch, {
    params: { repository, branch },
    body: {
      body: changed(before?.own ?? null),
      dryRun: options.dryRun === true,
      after,
      ...(options.reason === undefined ? {} : { why: options.reason }),
    },
  });
  return answer(session, options, now, () => branchLines(now, session.terminal.answer.paint));
}
