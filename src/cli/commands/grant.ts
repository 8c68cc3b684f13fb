import { type Command, Option } from "commander";
import type { GrantRule } from "#api/access.ts";
import { RoleVerb } from "#core/role.ts";
import { Verb } from "#core/verb.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { checkLines, rightsLines, ruleLines, whoLines } from "../grant-lines.ts";
import { priorityNumber } from "../priority-number.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface WhereOptions extends CommonOptions {
  readonly repository?: string;
  readonly branch?: string;
}

interface AddOptions extends WhereOptions {
  readonly priorityCap?: number;
  readonly top?: boolean;
  readonly pool?: string;
  readonly label?: string;
  readonly sizeClassCap?: number;
  readonly costCap?: number;
}

export const describeGrant: Describe = (command) => {
  describeAdd(command);
  describeRemove(command);
  describeList(command);
  describeOf(command);
  describeWho(command);
  describeCheck(command);
  command.addHelpText(
    "after",
    `\nVerbs: ${Verb.options.join(", ")}, or '*' for all; or role:NAME (\`grange role list\`).`,
  );
  withExamples(command, [
    [
      "let alice submit to try branches, with priorities up to 20",
      "grant add alice submit --branch 'try/*' --priority-cap 20",
    ],
    ["let bob read two repositories", "grant add bob role:viewer web api"],
    [
      "check whether bob may read the logs of web, and by which grant",
      "grant check bob read-logs web",
    ],
    ["close an open farm, after another principal has all rights", "grant remove anyone '*'"],
    ["list all grants", "grant list"],
    ["list who may read the logs of web, and by which grant", "grant who web read-logs"],
    ["show all rights of alice, and until when her tokens are valid", "grant of alice"],
  ]);
};

function where(command: Command, otherwise: string): Command {
  return speaksToServer(command)
    .option(
      "--repository <pattern>",
      `repositories, where * stands for anything (default: ${otherwise})`,
    )
    .option("--branch <pattern>", `branches, where * stands for anything (default: ${otherwise})`);
}

function describeAdd(command: Command): void {
  where(command.command("add <principal> <verb> [repositories...]"), "all")
    .description(
      "give a principal a right, for one or several repositories or projects; `anyone` means callers without a token",
    )
    .addOption(
      new Option("--priority-cap <n>", "the highest priority (default: no cap)").argParser(
        priorityNumber,
      ),
    )
    .option("--top", "also the top class, which starts before all others")
    .option(
      "--pool <pattern>",
      "for `work`: pools to serve; for jobs: pools to ask for (default: all)",
    )
    .option(
      "--label <pattern>",
      "other platform properties that jobs may ask for, as NAME=VALUE (default: any)",
    )
    .option("--size-class-cap <n>", "the largest size class for jobs (default: any)", wholeNumber)
    .option(
      "--cost-cap <minutes>",
      "the largest expected worker time of a graph, in minutes (default: no limit)",
      wholeNumber,
    )
    .action((principal: string, verb: string, repositories: string[], options: AddOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const named = [
          ...repositories,
          ...(options.repository === undefined ? [] : [options.repository]),
        ];
        let rules: GrantRule[] = [];
        for (const repository of named.length === 0 ? ["*"] : named) {
          rules = await session.api.call(accessEndpoints.addGrant, {
            body: {
              principal,
              verb: verbOf(verb),
              repository,
              branch: options.branch ?? "*",
              priorityCap: options.priorityCap ?? null,
              top: options.top ?? false,
              ...narrowedBy(options),
            },
          });
        }
        return answer(session, options, rules, () => ruleLines(rules));
      }),
    );
}

function describeRemove(command: Command): void {
  where(command.command("remove <principal> <verb>"), "all of that verb")
    .description("remove a right; patterns must be the same as in the grant")
    .action((principal: string, verb: string, options: WhereOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const { repository, branch } = options;
        const { removed } = await session.api.call(accessEndpoints.removeGrants, {
          body: {
            principal,
            verb: verbOf(verb),
            ...(repository === undefined ? {} : { repository }),
            ...(branch === undefined ? {} : { branch }),
          },
        });
        return answer(session, options, { removed }, () => [
          removed === 1 ? "One grant was removed." : `${removed} grants were removed.`,
        ]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list all grants; without the right to administer the farm, only yours")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const rules = await session.api.call(accessEndpoints.grants, {});
        return answer(session, options, rules, () => ruleLines(rules));
      }),
    );
}

function describeOf(command: Command): void {
  speaksToServer(command.command("of <principal>"))
    .description("show the rights of a principal: its grants, those of `anyone`, and its tokens")
    .action((principal: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const rights = await session.api.call(accessEndpoints.rightsOf, {
          params: { name: principal },
        });
        return answer(session, options, rights, () => rightsLines(rights));
      }),
    );
}

function describeWho(command: Command): void {
  speaksToServer(command.command("who [repository] [verb]"))
    .description(
      "list who may do what in a repository or project, or on the whole farm, and by which grants",
    )
    .option("--branch <branch>", "on this branch (default: on any branch)")
    .action((repository: string | undefined, verb: string | undefined, options: CheckOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const rights = await session.api.call(accessEndpoints.whoMay, {
          query: {
            ...(repository === undefined ? {} : { repository }),
            ...(verb === undefined ? {} : { verb: plainVerb(verb) }),
            ...(options.branch === undefined ? {} : { branch: options.branch }),
          },
        });
        return answer(session, options, rights, () => whoLines(rights));
      }),
    );
}

function describeCheck(command: Command): void {
  speaksToServer(command.command("check <principal> <verb> [repository]"))
    .description("check whether a principal has a right, and by which grant; exits with 1 if not")
    .option("--branch <branch>", "on this branch (default: on no branch)")
    .action(
      (principal: string, verb: string, repository: string | undefined, options: CheckOptions) =>
        inSession(options, async (session) => {
          const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
          const checked = await session.api.call(accessEndpoints.checkRight, {
            params: { name: principal },
            query: {
              verb: plainVerb(verb),
              ...(repository === undefined ? {} : { repository }),
              ...(options.branch === undefined ? {} : { branch: options.branch }),
            },
          });
          if (!checked.allowed) process.exitCode = exitCodes.failed;
          return answer(session, options, checked, () => checkLines(checked));
        }),
    );
}

interface CheckOptions extends CommonOptions {
  readonly branch?: string;
}

function narrowedBy({ pool, label, sizeClassCap, costCap }: AddOptions) {
  return {
    ...(pool === undefined ? {} : { pool }),
    ...(label === undefined ? {} : { label }),
    ...(sizeClassCap === undefined ? {} : { sizeClassCap }),
    ...(costCap === undefined ? {} : { costCap }),
  };
}

function plainVerb(written: string): Verb {
  const verb = Verb.safeParse(written);
  if (verb.success) return verb.data;
  throw new UsageError(`"${written}" is not a verb; the verbs are ${Verb.options.join(", ")}`);
}

function verbOf(written: string): Verb | "*" | RoleVerb {
  const verb = Verb.safeParse(written);
  if (verb.success) return verb.data;
  const role = RoleVerb.safeParse(written);
  if (role.success) return role.data;
  if (written === "*") return "*";
  throw new UsageError(
    `"${written}" is not a verb; the verbs are ${Verb.options.join(", ")}, '*', and role:NAME`,
  );
}
