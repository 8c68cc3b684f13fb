import type { Command } from "commander";
import type { Role } from "#api/access.ts";
import { Verb } from "#core/verb.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

/** `grange role`: named sets of verbs, for grants. */
export const describeRole: Describe = (command) => {
  addList(command);
  addSet(command);
  addRemove(command);
  withExamples(command, [
    ["list roles with their verbs", "role list"],
    ["create a role", "role set triage read read-logs retrigger cancel"],
    ["give a role to a principal", "grant add alice role:triage web"],
  ]);
};

function addList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list all roles")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const roles = await session.api.call(accessEndpoints.roles, {});
        return answer(session, options, roles, () => roleLines(roles));
      }),
    );
}

function addSet(command: Command): void {
  speaksToServer(command.command("set <name> <verbs...>"))
    .description("set the verbs of a role; this changes the rights of all who have it")
    .action((name: string, verbs: string[], options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const roles = await session.api.call(accessEndpoints.setRole, {
          params: { name },
          body: { verbs: verbs.map(verbFrom) },
        });
        return answer(session, options, roles, () => roleLines(roles));
      }),
    );
}

function addRemove(command: Command): void {
  speaksToServer(command.command("remove <name>"))
    .description("remove a role that no grant uses")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const roles = await session.api.call(accessEndpoints.removeRole, { params: { name } });
        return answer(session, options, roles, () => roleLines(roles));
      }),
    );
}

function verbFrom(written: string): Verb | "*" {
  if (written === "*") return "*";
  const verb = Verb.safeParse(written);
  if (verb.success) return verb.data;
  throw new UsageError(
    `"${written}" is not a verb; the verbs are ${Verb.options.join(", ")}, and '*'`,
  );
}

function roleLines(roles: readonly Role[]): string[] {
  return tableLines([
    ["role", "verbs", "by"],
    ...roles.map(({ name, verbs, setBy }) => [name, verbs.join(", "), printableLine(setBy)]),
  ]);
}
