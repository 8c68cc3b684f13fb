import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import type { RequestDetail, SubmittedRequest } from "#api/benchmark-request.ts";
import { mostRuns, RequestKind, RequestState } from "#api/benchmark-request.ts";
import { pathOfCall } from "#api/endpoint.ts";
import { messageOf } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
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
    "benchmarkRequest",
  );
  describeOne(command, "cancel", "end a request, with its jobs", "cancelBenchmarkRequest");

  speaksToServer(command.command("retry <request>"))
    .description("ask again for what an ended request did not get")
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const submitted = await session.api.call(benchmarkRequestEndpoints.retryBenchmarkRequest, {
          params: { request: id },
        });
        return answer(session, options, submitted, () => submittedLines(session, submitted));
      }),
    );

  speaksToServer(command.command("ready <request>"))
    .description("say that the artifacts that a request waits for are there")
    .option("--tarball <backend=file>", "one for each backend", repeated)
    .action((id: string, options: CommonOptions & { readonly tarball?: readonly string[] }) =>
      inSession(options, async (session) => {
        const tarballs = await keepTarballs(session, options.tarball ?? []);
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const now = await session.api.call(benchmarkRequestEndpoints.benchmarkArtifactsReady, {
          params: { request: id },
          body: { tarballs },
        });
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
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const { backend, profile, target, benchmark, kind, parent, pr, paired, runs } = options;
        const suite = await suiteOf(session, options);
        const tarballs = await keepTarballs(session, options.tarball ?? []);
        const submitted = await session.api.call(benchmarkRequestEndpoints.submitBenchmarkRequest, {
          body: {
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
          },
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
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const { suite, state, limit } = options;
        const page = await session.api.call(benchmarkRequestEndpoints.benchmarkRequests, {
          query: { suite, state, limit },
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
        const { benchmarkSuiteEndpoints } = await import(
          "#api/endpoints/benchmark-suite-endpoints.ts"
        );
        const { kind, before, limit } = options;
        const suite = await suiteOf(session, options);
        const page = await session.api.call(benchmarkSuiteEndpoints.benchmarkArtifacts, {
          query: { suite, kind, before, limit },
        });
        return answer(session, options, page, () => artifactRows(page));
      }),
    );

  speaksToServer(command.command("status"))
    .description("show the queue, when each request should end, who measures, and what is wrong")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const status = await session.api.call(benchmarkRequestEndpoints.benchmarkStatus, {});
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
  call: "benchmarkRequest" | "cancelBenchmarkRequest",
): void {
  speaksToServer(command.command(`${name} <request>`))
    .description(`${what}; named by the beginning of its id, or \`latest\``)
    .action((id: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const request = await session.api.call(benchmarkRequestEndpoints[call], {
          params: { request: id },
        });
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
    tarballs[each.slice(0, at)] = await keepTarball(api, bytes);
  }
  return tarballs;
}

/** Stores a tarball on the farm; returns its name there. */
async function keepTarball(api: ApiClient, bytes: Buffer<ArrayBuffer>): Promise<string> {
  const { benchmarkRequestEndpoints } = await import(
    "#api/endpoints/benchmark-request-endpoints.ts"
  );
  const { keepBenchmarkTarball } = benchmarkRequestEndpoints;
  const hash = createHash("sha256").update(bytes).digest("hex");
  const path = pathOfCall(keepBenchmarkTarball, { hash, size: String(bytes.length) });
  return (await api.upload(keepBenchmarkTarball.answer.shape, path, bytes)).digest;
}

const suiteOf = ({ api }: Session, { suite }: { readonly suite?: string }): Promise<string> =>
  farmSuite(api, suite);

function oneLines({ api }: Session, request: RequestDetail): string[] {
  const lines = requestLines(request, new Date());
  return [...lines, "", pageLine(api.serverUrl, ["requests", request.id])];
}

function submittedLines({ api }: Session, { request, sentence }: SubmittedRequest): string[] {
  const id = request.id.slice(0, 8);
  return [
    printableLine(sentence),
    `\`grange bench show ${id}\` says how far it is; \`grange bench status\` shows the queue.`,
    pageLine(api.serverUrl, ["requests", request.id]),
  ];
}
