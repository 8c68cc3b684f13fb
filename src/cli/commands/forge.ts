import { type Command, Option } from "commander";
import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { durationMs } from "../duration-ms.ts";
import { exitCodes } from "../exit-code.ts";
import type { ForgePolicyOptions } from "../forge-policy-change.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

type PolicyOptions = CommonOptions & ForgePolicyOptions;

export const describeForge: Describe = (command) => {
  describeAdd(command);
  describeList(command);
  describeShow(command);
  describeSet(command);
  describeRemove(command);
  describeLook(command);
  describeApprove(command);
  describeTest(command);
  describeAccounts(command);
  withExamples(command, [
    [
      "run a graph for each push to a Git repository",
      "forge add git https://example.org/project.git",
    ],
    [
      "watch a repository at GitHub, with its pull requests",
      "forge add github owner/name --suite compile",
    ],
    ["check the configuration of a forge", "forge test owner/name"],
    [
      "let users with the permission triage request measurements",
      "forge set owner/name --command bench=triage",
    ],
    [
      "let users read here who may read the repository at GitHub",
      "forge set owner/name --readers read",
    ],
    ["link a principal to an account at GitHub", "forge accounts --link alice=octocat"],
    ["approve one commit of a fork", "forge approve owner/name 7 $(git rev-parse FETCH_HEAD)"],
  ]);
};

function withPolicy(command: Command): Command {
  return speaksToServer(command)
    .option("--graph <name>", "the graph to run (usual: all jobs)")
    .option("--fork-graph <name>", "the graph to run for pull requests from forks")
    .option("--tags <pattern>", "tags that get a graph")
    .option("--branch-graphs", "run graphs for the default branch and for tags")
    .option("--no-branch-graphs", "run no graphs for them")
    .option("--pull-graphs", "run graphs for pull requests")
    .option("--no-pull-graphs", "run no graphs for them")
    .addOption(
      new Option("--fork-graphs <when>", "when to run graphs for pull requests from forks").choices(
        ["approved", "always", "never", "usual"],
      ),
    )
    .addOption(
      new Option("--fork-bench <when>", "when to measure pull requests from forks").choices([
        "approved",
        "never",
        "usual",
      ]),
    )
    .option("--fork-network", "let jobs of forks use the network")
    .option("--no-fork-network", "do not")
    .option(
      "--fork-platform <property=pattern>",
      "a platform property that jobs of forks may ask for; may be repeated",
      repeated,
    )
    .addOption(
      new Option(
        "--fork-isolation <level>",
        "the isolation that jobs of forks need; they wait for a worker that has it",
      ).choices(["strict", "sandbox", "any", "usual"]),
    )
    .option("--suite <name>", "the benchmark suite for commits (usual: none)")
    .option("--bench-master", "measure each head of the default branch")
    .option("--no-bench-master", "do not")
    .option("--bench-releases", "measure each tag")
    .option("--no-bench-releases", "do not")
    .option(
      "--command <command=permission>",
      "the permission that a command in a comment needs: read, triage, write, maintain, admin, nobody; may be repeated",
      repeated,
    )
    .option(
      "--readers <permission>",
      "the permission at the forge with which a linked account may read here (usual: nobody)",
    )
    .option("--poll <duration>", "how often the farm compares its state with the forge", pollOf);
}

function pollOf(text: string): number | "usual" {
  return text === "usual" ? "usual" : durationMs(text);
}

function describeAdd(command: Command): void {
  withPolicy(command.command("add <forge> <repository>"))
    .description("watch a repository: github OWNER/NAME, or git and its address")
    .action((kind: string, slug: string, options: PolicyOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { AddForgeRepository } = await import("#api/forge.ts");
        const { policyChangeOf } = await import("../forge-policy-change.ts");
        const { Fault } = await import("#core/fault.ts");
        const wanted = AddForgeRepository.safeParse({
          kind,
          slug,
          policy: policyChangeOf(options),
        });
        if (!wanted.success) {
          throw new Fault("invalid_argument", "write `github OWNER/NAME`, or `git` and an address");
        }
        const added = await session.api.call(forgeEndpoints.addForgeRepository, {
          body: wanted.data,
        });
        return answer(session, options, added, () => [
          `${added.name} is watched. ${added.defaultBranch} gets a graph now and after each push.`,
        ]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list watched repositories and their state")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { repositoriesLines } = await import("../forge-lines.ts");
        const { repositories } = await session.api.call(forgeEndpoints.forgeRepositories, {});
        return answer(session, options, repositories, () => repositoriesLines(repositories));
      }),
    );
}

function describeShow(command: Command): void {
  speaksToServer(command.command("show <repository>"))
    .description("show a watched repository: settings, pull requests, failures")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { repositoryLines } = await import("../forge-lines.ts");
        const shown = await session.api.call(forgeEndpoints.forgeRepository, {
          query: { repository: name },
        });
        return answer(session, options, shown, () => repositoryLines(shown));
      }),
    );
}

function describeSet(command: Command): void {
  withPolicy(command.command("set <repository>"))
    .description("change its settings; the value `usual` restores a default")
    .action((name: string, options: PolicyOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { policyChangeOf } = await import("../forge-policy-change.ts");
        const changed = await session.api.call(forgeEndpoints.setForgePolicy, {
          body: { repository: name, policy: policyChangeOf(options) },
        });
        return answer(session, options, changed, () => [`${changed.name} has new settings.`]);
      }),
    );
}

function describeRemove(command: Command): void {
  speaksToServer(command.command("remove <repository>"))
    .description("stop watching it; its graphs are kept")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const removed = await session.api.call(forgeEndpoints.removeForgeRepository, {
          body: { repository: name },
        });
        return answer(session, options, removed, () => [
          `${removed.removed} is no longer watched.`,
        ]);
      }),
    );
}

function describeLook(command: Command): void {
  speaksToServer(command.command("look <repository>"))
    .description("compare it with its forge now")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const looked = await session.api.call(forgeEndpoints.lookAtForgeRepository, {
          body: { repository: name },
        });
        return answer(session, options, looked, () => [
          `${looked.name} will be compared with its forge now.`,
        ]);
      }),
    );
}

function describeApprove(command: Command): void {
  speaksToServer(command.command("approve <repository> <number> <commit>"))
    .description("approve the head of a pull request from a fork: only this commit may run")
    .action((name: string, number: string, head: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const pull = /^#?(\d{1,9})$/.exec(number)?.[1];
        if (pull === undefined) {
          const { Fault } = await import("#core/fault.ts");
          throw new Fault("invalid_argument", `"${number}" is not the number of a pull request`);
        }
        await session.api.call(forgeEndpoints.approvePull, {
          body: { repository: name, number: Number(pull), head },
        });
        return answer(session, options, { approved: { number: Number(pull), head } }, () => [
          `${head.slice(0, 12)} may run.`,
        ]);
      }),
    );
}

function describeTest(command: Command): void {
  speaksToServer(command.command("test [repository]"))
    .description("check the configuration of a forge")
    .action((name: string | undefined, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { findingsLines } = await import("../forge-lines.ts");
        const examined = await session.api.call(forgeEndpoints.forgeExamination, {
          query: { repository: name },
        });
        answer(session, options, examined, () => findingsLines(examined));
        return examined.findings.some(({ state }) => state === "wrong")
          ? exitCodes.failed
          : exitCodes.ok;
      }),
    );
}

interface AccountsOptions extends CommonOptions {
  readonly link?: string;
  readonly unlink?: string;
  readonly forge: string;
}

function describeAccounts(command: Command): void {
  speaksToServer(command.command("accounts"))
    .description("which principals are which accounts at a forge, for `--readers`")
    .option("--link <principal=account>", "from now on, it is this account")
    .option("--unlink <principal>", "remove the link; the rights to read that follow from it end")
    .option("--forge <kind>", "the kind of forge", "github")
    .action((options: AccountsOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { accountLines } = await import("../forge-lines.ts");
        const { link, unlink, forge: kind } = options;
        if (link !== undefined) {
          const { partsOfLink } = await import("../forge-policy-change.ts");
          const [principal, account] = partsOfLink(link);
          await session.api.call(forgeEndpoints.linkForgeAccount, {
            body: { principal, kind, account },
          });
        }
        if (unlink !== undefined) {
          await session.api.call(forgeEndpoints.unlinkForgeAccount, {
            body: { principal: unlink, kind },
          });
        }
        const accounts = await session.api.call(forgeEndpoints.forgeAccounts, {});
        return answer(session, options, accounts, () => accountLines(accounts));
      }),
    );
}
