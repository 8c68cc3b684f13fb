import { type Command, Option } from "commander";
import type { GrantRule } from "#api/access.ts";
import { Verb } from "#core/verb.ts";
import { accessCalls } from "../api/access-calls.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { priorityNumber } from "../priority-number.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

interface WhereOptions extends CommonOptions {
  readonly repository?: string;
  readonly branch?: string;
}

interface AddOptions extends WhereOptions {
  readonly priorityCap?: number;
  readonly top?: boolean;
}

export const describeGrant: Describe = (command) => {
  describeAdd(command);
  describeRemove(command);
  describeList(command);
  command.addHelpText("after", `\nVerbs: ${Verb.options.join(", ")}, or '*' for all.`);
  withExamples(command, [
    [
      "alice may submit to try branches, with priorities up to 20",
      "grant add alice submit --branch 'try/*' --priority-cap 20",
    ],
    ["close an open farm, once somebody else has all rights", "grant remove anyone '*'"],
    ["who may do what", "grant list"],
  ]);
};

function where(command: Command, otherwise: string): Command {
  return speaksToServer(command)
    .option(
      "--repository <pattern>",
      `repositories, where * stands for anything (default: ${otherwise})`,
    )
    .option("--branch <pattern>", `branches, likewise (default: ${otherwise})`);
}

function describeAdd(command: Command): void {
  where(command.command("add <principal> <verb>"), "all")
    .description("let somebody do something; `anyone` is who sends no token")
    .addOption(
      new Option("--priority-cap <n>", "the highest priority (default: no cap)").argParser(
        priorityNumber,
      ),
    )
    .option("--top", "the class that nothing overtakes, too")
    .action((principal: string, verb: string, options: AddOptions) =>
      inSession(options, async (session) => {
        const rules = await accessCalls(session.api).addGrant({
          principal,
          verb: verbOf(verb),
          repository: options.repository ?? "*",
          branch: options.branch ?? "*",
          priorityCap: options.priorityCap ?? null,
          top: options.top ?? false,
        });
        return answer(session, options, rules, () => ruleLines(rules));
      }),
    );
}

function describeRemove(command: Command): void {
  where(command.command("remove <principal> <verb>"), "all of that verb")
    .description("take a right away again; patterns are compared as they were written")
    .action((principal: string, verb: string, options: WhereOptions) =>
      inSession(options, async (session) => {
        const { repository, branch } = options;
        const { removed } = await accessCalls(session.api).removeGrants({
          principal,
          verb: verbOf(verb),
          ...(repository === undefined ? {} : { repository }),
          ...(branch === undefined ? {} : { branch }),
        });
        return answer(session, options, { removed }, () => [
          removed === 1 ? "One grant was removed." : `${removed} grants were removed.`,
        ]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list all grants, or your own when you do not administer the farm")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const rules = await accessCalls(session.api).grants();
        return answer(session, options, rules, () => ruleLines(rules));
      }),
    );
}

function ruleLines(rules: readonly GrantRule[]): string[] {
  return tableLines([
    ["principal", "verb", "repository", "branch", "priority cap", "top", "by"],
    ...rules.map((rule) => [
      rule.principal,
      rule.verb,
      printableLine(rule.repository),
      printableLine(rule.branch),
      rule.priorityCap === null ? "-" : String(rule.priorityCap),
      rule.top ? "yes" : "-",
      rule.createdBy,
    ]),
  ]);
}

function verbOf(written: string): Verb | "*" {
  const verb = Verb.safeParse(written);
  if (verb.success) return verb.data;
  if (written === "*") return "*";
  throw new UsageError(`"${written}" is no verb; there are ${Verb.options.join(", ")}, and '*'`);
}
