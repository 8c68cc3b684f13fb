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
      "graphs of all that is pushed to a Git repository",
      "forge add git https://example.org/project.git",
    ],
    [
      "a repository at GitHub, with its pull requests",
      "forge add github owner/name --suite compile",
    ],
    ["what is wrong with the set-up", "forge test owner/name"],
    ["whoever may triage may ask for measurements", "forge set owner/name --command bench=triage"],
    ["whoever may read it at GitHub may read it here", "forge set owner/name --readers read"],
    ["who is who there", "forge accounts --link alice=octocat"],
    ["let one commit of a fork run", "forge approve owner/name 7 $(git rev-parse FETCH_HEAD)"],
  ]);
};

function withPolicy(command: Command): Command {
  return speaksToServer(command)
    .option("--graph <name>", "the named graph that is made; usual: all jobs")
    .option("--fork-graph <name>", "the one of pull requests from forks")
    .option("--tags <pattern>", "which tags get a graph")
    .option("--branch-graphs", "graphs of the default branch and of tags")
    .option("--no-branch-graphs", "none of those")
    .option("--pull-graphs", "graphs of pull requests")
    .option("--no-pull-graphs", "none of those")
    .addOption(
      new Option("--fork-graphs <when>", "graphs of pull requests from forks").choices([
        "approved",
        "always",
        "never",
        "usual",
      ]),
    )
    .addOption(
      new Option("--fork-bench <when>", "measurements of them").choices([
        "approved",
        "never",
        "usual",
      ]),
    )
    .option("--fork-network", "let their jobs use the network")
    .option("--no-fork-network", "do not")
    .option(
      "--fork-platform <property=pattern>",
      "a label that their jobs may ask for; may be repeated",
      repeated,
    )
    .addOption(
      new Option(
        "--fork-isolation <level>",
        "what the sandbox of their jobs must stop; they wait for such a worker",
      ).choices(["strict", "sandbox", "any", "usual"]),
    )
    .option("--suite <name>", "the suite by which commits are measured; usual: none")
    .option("--bench-master", "measure each head of the default branch")
    .option("--no-bench-master", "do not")
    .option("--bench-releases", "measure each tag")
    .option("--no-bench-releases", "do not")
    .option(
      "--command <command=permission>",
      "who may use a command in comments: read, triage, write, maintain, admin, nobody; may be repeated",
      repeated,
    )
    .option(
      "--readers <permission>",
      "the permission at the forge that lets a linked account read here; usual: nobody",
    )
    .option("--poll <duration>", "how often all is compared with the forge", pollOf);
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
          throw new Fault("invalid_argument", "say `github OWNER/NAME`, or `git` and an address");
        }
        const added = await session.api.call(forgeEndpoints.addForgeRepository, {
          body: wanted.data,
        });
        return answer(session, options, added, () => [
          `${added.name} is watched: ${added.defaultBranch} gets a graph at once, and whenever it moves.`,
        ]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("what is watched, and how that goes")
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
    .description("one of them: what is done with it, its pull requests, what failed")
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
    .description("change what is done with it; `usual` takes something back")
    .action((name: string, options: PolicyOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const { policyChangeOf } = await import("../forge-policy-change.ts");
        const changed = await session.api.call(forgeEndpoints.setForgePolicy, {
          body: { repository: name, policy: policyChangeOf(options) },
        });
        return answer(session, options, changed, () => [`${changed.name} is dealt with anew.`]);
      }),
    );
}

function describeRemove(command: Command): void {
  speaksToServer(command.command("remove <repository>"))
    .description("watch it no more; its graphs stay")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const removed = await session.api.call(forgeEndpoints.removeForgeRepository, {
          body: { repository: name },
        });
        return answer(session, options, removed, () => [
          `${removed.removed} is not watched any more.`,
        ]);
      }),
    );
}

function describeLook(command: Command): void {
  speaksToServer(command.command("look <repository>"))
    .description("compare it with its forge at once")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const looked = await session.api.call(forgeEndpoints.lookAtForgeRepository, {
          body: { repository: name },
        });
        return answer(session, options, looked, () => [`${looked.name} is looked at.`]);
      }),
    );
}

function describeApprove(command: Command): void {
  speaksToServer(command.command("approve <repository> <number> <commit>"))
    .description("let the head of a pull request from a fork run: that commit, and no other")
    .action((name: string, number: string, head: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { forgeEndpoints } = await import("#api/endpoints/forge-endpoints.ts");
        const pull = /^#?(\d{1,9})$/.exec(number)?.[1];
        if (pull === undefined) {
          const { Fault } = await import("#core/fault.ts");
          throw new Fault("invalid_argument", `"${number}" is no number of a pull request`);
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
    .description("what is wrong with how a forge is set up")
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
    .option("--unlink <principal>", "it is no account any more; what it could read by it ends")
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
