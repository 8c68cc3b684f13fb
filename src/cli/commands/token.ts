import type { Command } from "commander";
import { parseDuration } from "#graphs/definitions/duration.ts";
import { accessCalls } from "../api/access-calls.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { UsageError } from "../usage-error.ts";

interface CreateOptions extends CommonOptions {
  readonly expires?: string;
}

export const describeToken: Describe = (command) => {
  describeCreate(command);
  describeList(command);
  describeRevoke(command);
  withExamples(command, [
    ["a token for alice that runs out", "token create alice --expires 90d"],
    ["use it", "submit --token-file ~/.grange-token"],
    ["end it", "token revoke 3f2a9c01b7de"],
  ]);
};

function describeCreate(command: Command): void {
  speaksToServer(command.command("create <name>"))
    .description("make a token for a principal, and print it this once")
    .option(
      "--expires <duration>",
      "how long it is good, such as 12h or 90d (default: until revoked)",
    )
    .action((principal: string, options: CreateOptions) =>
      inSession(options, async (session) => {
        const created = await accessCalls(session.api).createToken({
          principal,
          ...expiry(options.expires),
        });
        const until = created.expiresAt === null ? "it is revoked" : timeText(created.expiresAt);
        session.terminal.notes.line(
          `Token ${created.id} of ${created.principal}, good until ${until}. It is not shown again:`,
        );
        return answer(session, options, created, () => [created.token]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list tokens; the tokens themselves are nowhere")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const tokens = await accessCalls(session.api).tokens();
        return answer(session, options, tokens, () =>
          tableLines([
            ["id", "principal", "made", "by", "good until"],
            ...tokens.map((token) => [
              token.id,
              token.principal,
              timeText(token.createdAt),
              token.createdBy,
              token.revokedAt === null
                ? token.expiresAt === null
                  ? "it is revoked"
                  : timeText(token.expiresAt)
                : `revoked ${timeText(token.revokedAt)} by ${token.revokedBy}`,
            ]),
          ]),
        );
      }),
    );
}

function describeRevoke(command: Command): void {
  speaksToServer(command.command("revoke <id>"))
    .description("end a token for good")
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const revoked = await accessCalls(session.api).revokeToken(id);
        return answer(session, options, revoked, () => [
          `Token ${revoked.id} of ${revoked.principal} is revoked.`,
        ]);
      }),
    );
}

function expiry(written: string | undefined): { expiresInMs?: number } {
  if (written === undefined) return {};
  const expiresInMs = parseDuration(written);
  if (expiresInMs !== undefined) return { expiresInMs };
  throw new UsageError(`"${written}" is no duration; write one such as 12h or 90d`);
}
