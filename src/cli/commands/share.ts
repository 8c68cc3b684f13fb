import type { Command } from "commander";
import type { CreatedShareLink, ShareLink } from "#api/share.ts";
import { sharedObjectText } from "#core/shared-object-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { durationMs } from "../duration-ms.ts";
import { exitCodes } from "../exit-code.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface MakeOptions extends CommonOptions {
  readonly expires?: number;
}

interface RunOptions extends MakeOptions {
  readonly run?: number;
  readonly batch?: number;
}

/** `grange share`: links by which others read one object for a limited time. */
export const describeShare: Describe = (command) => {
  addLog(command);
  addOutput(command);
  addComparison(command);
  addList(command);
  addRevoke(command);
  command.addHelpText(
    "after",
    "\nTo create a link, you need the right `share` and the right to read the object. A link ends when it expires, when somebody revokes it, when its creator loses the right to read the object, and when the last token of its maker is revoked.",
  );
  withExamples(command, [
    ["create a link to the log of a job, for a week", "share log latest tests"],
    [
      "create a link to an output of a job, for a day",
      "share output 3f2a package out/app.tar --expires 1d",
    ],
    ["list your links", "share list"],
    ["revoke one", "share revoke 3f2a9c01b7de"],
  ]);
};

function making(command: Command): Command {
  return speaksToServer(command).option(
    "--expires <duration>",
    "the lifetime of the link, at most 90d (default: 7d)",
    durationMs,
  );
}

function addLog(command: Command): void {
  making(command.command("log <graph> <job>"))
    .description("create a link to the log of a run")
    .option("--run <n>", "the run (default: the latest)", wholeNumber)
    .option("--batch <n>", "the batch of a chunked job", wholeNumber)
    .action((graph: string, job: string, options: RunOptions) =>
      inSession(options, (session) => shareRun(session, { graph, job }, undefined, options)),
    );
}

function addOutput(command: Command): void {
  making(command.command("output <graph> <job> <path>"))
    .description("create a link to an output file of a run")
    .option("--run <n>", "the run (default: the latest)", wholeNumber)
    .action((graph: string, job: string, path: string, options: RunOptions) =>
      inSession(options, (session) => shareRun(session, { graph, job }, path, options)),
    );
}

async function shareRun(
  session: Session,
  { graph, job }: { readonly graph: string; readonly job: string },
  path: string | undefined,
  options: RunOptions,
): Promise<number> {
  const { shareEndpoints } = await import("#api/endpoints/share-endpoints.ts");
  const detail = await session.api.job(graph, job);
  const run = options.run ?? detail.runList.length;
  if (run === 0) {
    session.terminal.notes.line(`${job} has no run yet: it is ${detail.job.state}.`);
    return exitCodes.failed;
  }
  const link = await session.api.call(shareEndpoints.shareRun, {
    params: { graph: detail.graph.id, job, run: String(run) },
    body: {
      ...(path === undefined ? {} : { path }),
      ...(options.batch === undefined ? {} : { batch: options.batch }),
      ...(options.expires === undefined ? {} : { expiresInMs: options.expires }),
    },
  });
  return answerWith(session, options, link);
}

function answerWith(session: Session, options: CommonOptions, link: CreatedShareLink) {
  session.terminal.notes.line(
    `Link ${link.id} to ${printableLine(sharedObjectText(link.object))}, valid until ${timeText(link.expiresAt)}. Anyone who has the link can read this. It is not shown again:`,
  );
  return answer(session, options, link, () => [link.url]);
}

interface ComparisonOptions extends MakeOptions {
  readonly before: string;
  readonly after: string;
  readonly metric?: string;
}

function addComparison(command: Command): void {
  making(command.command("comparison <suite>"))
    .description("create a link to a comparison of two artifacts of a benchmark suite")
    .requiredOption("--before <artifact>", "the earlier artifact")
    .requiredOption("--after <artifact>", "the later artifact")
    .option("--metric <name>", "the metric (default: the headline of the suite)")
    .action((suite: string, options: ComparisonOptions) =>
      inSession(options, async (session) => {
        const { shareEndpoints } = await import("#api/endpoints/share-endpoints.ts");
        const { before, after, metric, expires } = options;
        const link = await session.api.call(shareEndpoints.shareComparison, {
          body: {
            suite,
            before,
            after,
            ...(metric === undefined ? {} : { metric }),
            ...(expires === undefined ? {} : { expiresInMs: expires }),
          },
        });
        return answerWith(session, options, link);
      }),
    );
}

function addList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list your links; with the right to administer the farm, all links")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { shareEndpoints } = await import("#api/endpoints/share-endpoints.ts");
        const links = await session.api.call(shareEndpoints.shareLinks, {});
        return answer(session, options, links, () =>
          tableLines([
            ["id", "opens", "by", "made", "opened first", "valid until"],
            ...links.map((link) => [
              link.id,
              printableLine(sharedObjectText(link.object)),
              printableLine(link.madeBy),
              timeText(link.madeAt),
              link.openedAt === null ? "-" : timeText(link.openedAt),
              endText(link),
            ]),
          ]),
        );
      }),
    );
}

function addRevoke(command: Command): void {
  speaksToServer(command.command("revoke <id>"))
    .description("revoke a link")
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { shareEndpoints } = await import("#api/endpoints/share-endpoints.ts");
        const link = await session.api.call(shareEndpoints.revokeShareLink, { params: { id } });
        return answer(session, options, link, () => [`The share link ${link.id} is revoked.`]);
      }),
    );
}

function endText({ expiresAt, revokedAt, revokedBy }: ShareLink): string {
  return revokedAt === null
    ? timeText(expiresAt)
    : printableLine(`revoked by ${revokedBy ?? "nobody"}`);
}
