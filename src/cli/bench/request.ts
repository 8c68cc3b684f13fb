import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import type { z } from "zod";
import type { RequestDetail, SubmittedRequest } from "#api/benchmark-request.ts";
import { mostRuns, RequestKind, RequestState } from "#api/benchmark-request.ts";
import { messageOf } from "#core/fault.ts";
import { benchmarkCalls } from "../api/benchmark-calls.ts";
import { benchmarkHistoryCalls } from "../api/benchmark-history-calls.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";
import { numberFrom } from "../whole-number.ts";
import { farmSuite } from "./farm-suite.ts";
import { pageLine } from "./page-address.ts";
import { artifactRows, requestLines, requestRows, statusLines } from "./request-lines.ts";

interface AskOptions extends CommonOptions {
  readonly suite?: string;
  readonly backend?: readonly string[];
  readonly profile?: readonly string[];
  readonly target?: readonly string[];
  readonly benchmark?: readonly string[];
  readonly tarball?: readonly string[];
  readonly kind?: RequestKind;
  readonly parent?: string;
  readonly pr?: number;
  readonly paired?: boolean;
  readonly runs?: number;
  readonly parents: boolean;
  readonly alone?: boolean;
  readonly waitForArtifacts?: boolean;
}

interface ListOptions extends CommonOptions {
  readonly suite?: string;
  readonly state?: RequestState;
  readonly limit: number;
}

interface ArtifactOptions extends CommonOptions {
  readonly suite?: string;
  readonly kind?: RequestKind;
  readonly before?: string;
  readonly limit: number;
}

/** `grange bench request | requests | show | cancel | retry | ready | artifacts | status`. */
export function describeRequestCommands(command: Command): void {
  describeAsk(command);
  describeLists(command);
  describeOne(
    command,
    "show",
    "show a request: its jobs, its place, when it should end",
    "request",
  );
  describeOne(command, "cancel", "end a request, with its jobs", "cancel");

  speaksToServer(command.command("retry <request>"))
    .description("ask again for what an ended request did not get")
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const submitted = await benchmarkCalls(session.api).retry(id);
        return answer(session, options, submitted, () => submittedLines(session, submitted));
      }),
    );

  speaksToServer(command.command("ready <request>"))
    .description("say that the artifacts that a request waits for are there")
    .option("--tarball <backend=file>", "one for each backend", repeated)
    .action((id: string, options: CommonOptions & { readonly tarball?: readonly string[] }) =>
      inSession(options, async (session) => {
        const tarballs = await keepTarballs(session, options.tarball ?? []);
        const now = await benchmarkCalls(session.api).artifactsReady(id, tarballs);
        return answer(session, options, now, () => oneLines(session, now));
      }),
    );
}

function describeAsk(command: Command): void {
  const request = speaksToServer(command.command("request"))
    .description("ask for an artifact to be measured; for what is under way, adds what is missing")
    .argument("<artifact>", "its tag: a version, a nightly's day, a commit; or a name for tarballs")
    .option("--suite <name>", "default: the farm's only one")
    .option("--backend <name>", "only it (may be given several times)", repeated)
    .option("--profile <name>", "only it (may be given several times)", repeated)
    .option("--target <name>", "only it (may be given several times)", repeated)
    .option("--benchmark <name>", "only it (may be given several times)", repeated)
    .addOption(new Option("--kind <kind>", "what it is").choices(RequestKind.options))
    .option("--parent <artifact>", "what to compare with (default: what it follows)")
    .option("--pr <number>", "the pull request that it is of", numberFrom(0, 999_999_999))
    .option("--paired", "interleave it with its parent, for noisy metrics")
    .option("--no-paired", "do not, though the suite does")
    .option(
      "--runs <number>",
      `run each case so often, at least as often as the suite does, at most ${mostRuns}`,
      numberFrom(1, mostRuns),
    )
    .option("--no-parents", "leave parents alone that nobody has measured")
    .option("--alone", "measure it without comparing it with anything")
    .option("--tarball <backend=file>", "what you built (once for each backend)", repeated)
    .option("--wait-for-artifacts", "it is not there yet; say `grange bench ready` when it is")
    .action((artifact: string, options: AskOptions) =>
      inSession(options, async (session) => {
        const { backend, profile, target, benchmark, kind, parent, pr, paired, runs } = options;
        const suite = await suiteOf(session, options);
        const tarballs = await keepTarballs(session, options.tarball ?? []);
        const submitted = await benchmarkCalls(session.api).submit({
          suite,
          artifact,
          backends: [...(backend ?? [])],
          profiles: [...(profile ?? [])],
          targets: [...(target ?? [])],
          benchmarks: [...(benchmark ?? [])],
          parents: options.alone === true ? "alone" : options.parents ? "missing" : "none",
          waitForArtifacts: options.waitForArtifacts === true,
          ...(options.tarball === undefined ? {} : { tarballs }),
          ...(kind === undefined ? {} : { kind }),
          ...(parent === undefined ? {} : { parent }),
          ...(pr === undefined ? {} : { pr }),
          ...(paired === undefined ? {} : { paired }),
          ...(runs === undefined ? {} : { runs }),
        });
        return answer(session, options, submitted, () => submittedLines(session, submitted));
      }),
    );
  withExamples(request, [
    [
      "a day of the main line, with the days before it that nobody has measured",
      "bench request nightly-20260601 --suite typescript",
    ],
    ["a pull request, its times too", "bench request 3f2c91d --pr 812 --paired"],
    ["what you have built", "bench request mine --tarball native=built.tgz --parent 7.0.2"],
  ]);
}

function describeLists(command: Command): void {
  speaksToServer(command.command("requests"))
    .description("list requests, the newest first")
    .option("--suite <name>", "only of this suite")
    .addOption(new Option("--state <state>", "only in this state").choices(RequestState.options))
    .option("--limit <number>", "how many, at most 1000", numberFrom(1, 1_000), 30)
    .action((options: ListOptions) =>
      inSession(options, async (session) => {
        const { suite, state, limit } = options;
        const page = await benchmarkCalls(session.api).requests({
          limit,
          ...(suite === undefined ? {} : { suite }),
          ...(state === undefined ? {} : { state }),
        });
        return answer(session, options, page, () => requestRows(page.requests, new Date()));
      }),
    );

  speaksToServer(command.command("artifacts"))
    .description("list what a suite knows, the newest first")
    .option("--suite <name>", "default: the farm's only one")
    .addOption(new Option("--kind <kind>", "only of this kind").choices(RequestKind.options))
    .option("--before <artifact>", "go on after this one")
    .option("--limit <number>", "how many, at most 1000", numberFrom(1, 1_000), 50)
    .action((options: ArtifactOptions) =>
      inSession(options, async (session) => {
        const { kind, before, limit } = options;
        const suite = await suiteOf(session, options);
        const page = await benchmarkCalls(session.api).artifacts({
          suite,
          limit,
          ...(kind === undefined ? {} : { kind }),
          ...(before === undefined ? {} : { before }),
        });
        return answer(session, options, page, () => artifactRows(page));
      }),
    );

  speaksToServer(command.command("status"))
    .description("show the queue, when each request should end, who measures, and what is wrong")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const status = await benchmarkCalls(session.api).status();
        return answer(session, options, status, () => [
          ...statusLines(status),
          "",
          pageLine(session.api.serverUrl, []),
        ]);
      }),
    );
}

function describeOne(
  command: Command,
  name: string,
  what: string,
  call: "request" | "cancel",
): void {
  speaksToServer(command.command(`${name} <request>`))
    .description(`${what}; named by the beginning of its id, or \`latest\``)
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const request = await benchmarkCalls(session.api)[call](id);
        return answer(session, options, request, () => oneLines(session, request));
      }),
    );
}

async function keepTarballs(
  { api }: Session,
  written: readonly string[],
): Promise<Record<string, string>> {
  const tarballs: Record<string, string> = {};
  for (const each of written) {
    const at = each.indexOf("=");
    if (at < 1) throw new UsageError(`"${printableLine(each)}" is no --tarball: BACKEND=FILE`);
    const file = each.slice(at + 1);
    let bytes: Buffer<ArrayBuffer>;
    try {
      bytes = await readFile(file);
    } catch (reason) {
      throw new UsageError(`${printableLine(file)} cannot be read: ${messageOf(reason)}`);
    }
    tarballs[each.slice(0, at)] = await benchmarkCalls(api).keepTarball(bytes);
  }
  return tarballs;
}

const suiteOf = ({ api }: Session, { suite }: { readonly suite?: string }): Promise<string> =>
  farmSuite(benchmarkHistoryCalls(api), suite);

function oneLines({ api }: Session, request: RequestDetail): string[] {
  const lines = requestLines(request, new Date());
  return [...lines, "", pageLine(api.serverUrl, ["requests", request.id])];
}

function submittedLines(
  { api }: Session,
  { request, sentence }: z.infer<typeof SubmittedRequest>,
): string[] {
  const id = request.id.slice(0, 8);
  return [
    printableLine(sentence),
    `\`grange bench show ${id}\` says how far it is; \`grange bench status\` shows the queue.`,
    pageLine(api.serverUrl, ["requests", request.id]),
  ];
}
