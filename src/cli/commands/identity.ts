import type { ListedIdentity } from "#api/session.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";

interface AddOptions extends CommonOptions {
  readonly subject: string;
  readonly issuer?: string;
}

export const describeIdentity: Describe = (command) => {
  speaksToServer(command.command("list"))
    .description("list who has signed in at the identity provider, and under which name")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const identities = await session.api.call(sessionEndpoints.identities, {});
        return answer(session, options, identities, () => identityLines(identities));
      }),
    );
  speaksToServer(command.command("add <principal>"))
    .description("say which principal a subject of the provider is, before it signs in")
    .requiredOption("--subject <text>", "the subject, as the provider names it (`sub`)")
    .option("--issuer <url>", "the provider (default: the farm's own)")
    .action((principal: string, options: AddOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const { subject, issuer } = options;
        const identity = { principal, subject, ...(issuer === undefined ? {} : { issuer }) };
        const identities = await session.api.call(sessionEndpoints.addIdentity, { body: identity });
        return answer(session, options, identities, () => identityLines(identities));
      }),
    );
  speaksToServer(command.command("remove <principal>"))
    .description("free a name for whoever signs in with it next, and sign out who has it")
    .action((principal: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const identities = await session.api.call(sessionEndpoints.removeIdentity, {
          params: { principal },
        });
        return answer(session, options, identities, () => identityLines(identities));
      }),
    );
  withExamples(command, [
    ["who came from the provider", "identity list"],
    ["the next alice@farm.example is another person", "identity remove alice@farm.example"],
  ]);
};

function identityLines(identities: readonly ListedIdentity[]): string[] {
  return tableLines([
    ["principal", "subject", "issuer", "first seen", "last seen"],
    ...identities.map((identity) => [
      identity.principal,
      printableLine(identity.subject),
      printableLine(identity.issuer),
      timeText(identity.firstSeenAt),
      timeText(identity.lastSeenAt),
    ]),
  ]);
}
