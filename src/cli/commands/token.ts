import { type Command, Option } from "commander";
import type { z } from "zod";
import { PrincipalKind, type Token } from "#api/access.ts";
import { EnrolledKind } from "#api/enrolment.ts";
import { parseDuration } from "#definitions/duration.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { UsageError } from "../usage-error.ts";

interface CreateOptions extends CommonOptions {
  readonly expires?: string;
  readonly kind?: z.infer<typeof PrincipalKind>;
  readonly enrol?: z.infer<typeof EnrolledKind>;
  readonly pool?: string;
  readonly project?: string;
  readonly tokenExpires?: string;
}

export const describeToken: Describe = (command) => {
  describeCreate(command);
  describeList(command);
  describeRevoke(command);
  withExamples(command, [
    ["create a token for alice that expires", "token create alice --expires 90d"],
    ["use the token", "submit --token-file ~/.grange-token"],
    [
      "let a worker named attic enrol within an hour, for pools whose names begin with p",
      "token create attic --enrol worker --pool 'p*' --expires 1h",
    ],
    ["revoke one", "token revoke 3f2a9c01b7de"],
  ]);
};

function describeCreate(command: Command): void {
  speaksToServer(command.command("create <name>"))
    .description("create a token for a principal, and print it once")
    .option(
      "--expires <duration>",
      "the lifetime, such as 12h or 90d, or never (default: a year; for enrolment tokens: an hour)",
    )
    .addOption(
      new Option("--kind <kind>", "the kind of the principal (default: a person)").choices(
        PrincipalKind.options,
      ),
    )
    .addOption(
      new Option(
        "--enrol <kind>",
        "create an enrolment token, which a machine exchanges once for a token of its own",
      ).choices(EnrolledKind.options),
    )
    .option("--pool <pattern>", "with --enrol worker: the pools that it may serve (default: all)")
    .option(
      "--project <pattern>",
      "with --enrol granary: the projects whose caches it may write (default: the project `default`)",
    )
    .option("--token-expires <duration>", "with --enrol: the lifetime of the machine's own token")
    .action((principal: string, options: CreateOptions) =>
      inSession(options, async (session) => {
        const { enrolmentEndpoints } = await import("#api/endpoints/enrolment-endpoints.ts");
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const { enrol: kind, pool, project } = options;
        if (kind === undefined) requireEnrol(options);
        const created =
          kind === undefined
            ? await session.api.call(accessEndpoints.createToken, {
                body: {
                  principal,
                  ...(options.kind === undefined ? {} : { kind: options.kind }),
                  ...(options.expires === "never"
                    ? { expiresInMs: null }
                    : msOf("expiresInMs", options.expires)),
                },
              })
            : await session.api.call(enrolmentEndpoints.createEnrolment, {
                body: {
                  principal,
                  kind,
                  ...(pool === undefined ? {} : { pool }),
                  ...(project === undefined ? {} : { repository: project }),
                  ...msOf("expiresInMs", options.expires),
                  ...msOf("tokenExpiresInMs", options.tokenExpires),
                },
              });
        const until = created.expiresAt === null ? "it is revoked" : timeText(created.expiresAt);
        const what = kind === undefined ? "Token" : "Enrolment token";
        session.terminal.notes.line(
          `${what} ${created.id} of ${created.principal}, valid until ${until}. It is not shown again:`,
        );
        if (kind === undefined && created.expiresAt === null)
          session.terminal.notes.line("It never expires. To revoke it: grange token revoke.");
        return answer(session, options, created, () => [created.token]);
      }),
    );
}

function requireEnrol({ pool, project, tokenExpires }: CreateOptions): void {
  if (pool === undefined && project === undefined && tokenExpires === undefined) return;
  throw new UsageError("--pool, --project and --token-expires need --enrol");
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list tokens; the farm never shows the tokens themselves")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const tokens = await session.api.call(accessEndpoints.tokens, {});
        return answer(session, options, tokens, () =>
          tableLines([
            ["id", "principal", "kind", "for", "made", "by", "valid until"],
            ...tokens.map((token) => [
              token.id,
              token.principal,
              token.kind,
              token.use,
              timeText(token.createdAt),
              token.createdBy,
              goodUntil(token),
            ]),
          ]),
        );
      }),
    );
}

function describeRevoke(command: Command): void {
  speaksToServer(command.command("revoke <id>"))
    .description("revoke a token")
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const revoked = await session.api.call(accessEndpoints.revokeToken, { params: { id } });
        return answer(session, options, revoked, () => [
          `Token ${revoked.id} of ${revoked.principal} is revoked.`,
        ]);
      }),
    );
}

function goodUntil({ expiresAt, revokedAt, revokedBy, usedAt }: Token): string {
  if (revokedAt !== null) return `revoked ${timeText(revokedAt)} by ${revokedBy}`;
  if (usedAt !== null) return `used ${timeText(usedAt)}`;
  if (expiresAt === null) return "it is revoked";
  const isOver = Date.parse(expiresAt) <= Date.now();
  return isOver ? `expired ${timeText(expiresAt)}` : timeText(expiresAt);
}

function msOf<Name extends string>(
  name: Name,
  written: string | undefined,
): { readonly [N in Name]?: number } {
  if (written === undefined) return {};
  const ms = parseDuration(written);
  if (ms !== undefined) return { [name]: ms } as { [N in Name]: number };
  throw new UsageError(`"${written}" is not a duration; write one such as 12h or 90d`);
}
