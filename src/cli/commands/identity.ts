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
    .description("list users of the identity provider and their principals")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const identities = await session.api.call(sessionEndpoints.identities, {});
        return answer(session, options, identities, () => identityLines(identities));
      }),
    );
  speaksToServer(command.command("add <principal>"))
    .description("set the principal of a user of the provider, before the first sign-in")
    .requiredOption("--subject <text>", "the `sub` of the user at the provider")
    .option("--issuer <url>", "the provider (default: the one of the farm)")
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
    .description(
      "remove the user of a principal, and sign the user out; the next user who signs in with this name gets it",
    )
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
    ["list users of the provider", "identity list"],
    ["let another person sign in as alice@farm.example", "identity remove alice@farm.example"],
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
