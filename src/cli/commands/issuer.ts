import type { Command } from "commander";
import type { ListedIssuer } from "#api/session.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

interface AddOptions extends CommonOptions {
  readonly audience: string;
  readonly subject: string;
  readonly principal: string;
}

export const describeIssuer: Describe = (command) => {
  describeAdd(command);
  speaksToServer(command.command("list"))
    .description("list trusted issuers of signed tokens")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const issuers = await session.api.call(sessionEndpoints.issuers, {});
        return answer(session, options, issuers, () => issuerLines(issuers));
      }),
    );
  speaksToServer(command.command("remove <name>"))
    .description("stop accepting its tokens")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const issuers = await session.api.call(sessionEndpoints.removeIssuer, { params: { name } });
        return answer(session, options, issuers, () => issuerLines(issuers));
      }),
    );
  withExamples(command, [
    [
      "let workflows of one repository at GitHub act as ci-app",
      "issuer add github https://token.actions.githubusercontent.com --audience https://farm.example " +
        "--subject 'repo:org/app:ref:refs/heads/*' --principal ci-app",
    ],
    ["give ci-app a right", "grant add ci-app submit --repository app"],
  ]);
};

function describeAdd(command: Command): void {
  speaksToServer(command.command("add <name> <url>"))
    .description(
      "accept signed tokens (JWT) of a CI system or a cloud, as a principal of this farm",
    )
    .requiredOption("--audience <text>", "the audience (`aud`) that the tokens must have")
    .requiredOption(
      "--subject <pattern>",
      "the subject (`sub`) that the tokens must have; * stands for anything",
    )
    .requiredOption("--principal <name>", "the principal that the tokens stand for")
    .action((name: string, url: string, options: AddOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const { audience, subject, principal } = options;
        const issuer = { name, url, audience, subject, principal };
        const issuers = await session.api.call(sessionEndpoints.addIssuer, { body: issuer });
        return answer(session, options, issuers, () => issuerLines(issuers));
      }),
    );
}

function issuerLines(issuers: readonly ListedIssuer[]): string[] {
  return tableLines([
    ["name", "issuer", "audience", "subject", "principal", "by"],
    ...issuers.map((issuer) => [
      issuer.name,
      printableLine(issuer.url),
      printableLine(issuer.audience),
      printableLine(issuer.subject),
      issuer.principal,
      issuer.createdBy,
    ]),
  ]);
}
