import type { Command } from "commander";
import type { ListedSession } from "#api/session.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";

export const describeSignIn: Describe = (command) => {
  speaksToServer(command.command("link", { isDefault: true }))
    .description("print an address that signs one browser in with your rights")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { signInEndpoints } = await import("#api/endpoints/sign-in-endpoints.ts");
        const link = await session.api.call(signInEndpoints.signInLink, {});
        session.terminal.notes.line("Valid once, for five minutes:");
        return answer(session, options, link, () => [link.url]);
      }),
    );
  speaksToServer(command.command("list"))
    .description("list signed-in browsers: yours; with the right to administer the farm, all")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const sessions = await session.api.call(sessionEndpoints.sessions, {});
        return answer(session, options, sessions, () => sessionLines(sessions));
      }),
    );
  describeEnd(command);
  withExamples(command, [
    ["sign your browser in without copying a token", "sign-in"],
    ["sign another browser out", "sign-in end 3f2a9c01b7de44aa"],
  ]);
};

function describeEnd(command: Command): void {
  speaksToServer(command.command("end <id>"))
    .description("sign a browser out")
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { sessionEndpoints } = await import("#api/endpoints/session-endpoints.ts");
        const ended = await session.api.call(sessionEndpoints.endSession, {
          params: { session: id },
        });
        return answer(session, options, ended, () => [
          `Session ${ended.id} of ${ended.principal} has ended.`,
        ]);
      }),
    );
}

function sessionLines(sessions: readonly ListedSession[]): string[] {
  return tableLines([
    ["id", "principal", "by", "since", "last seen", "until"],
    ...sessions.map((each) => [
      each.id,
      each.principal,
      each.tokenId === null ? (each.issuer ?? "") : `token ${each.tokenId}`,
      timeText(each.createdAt),
      timeText(each.seenAt),
      timeText(each.endsAt),
    ]),
  ]);
}
