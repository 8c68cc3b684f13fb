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
    "show a request: its jobs, its place in the queue, and its expected end",
    "benchmarkRequest",
  );
  describeOne(command, "cancel", "cancel a request and its jobs", "cancelBenchmarkRequest");

  speaksToServer(command.command("retry <request>"))
    .description("measure again what failed in an ended request")
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
    .description("mark the artifacts of a waiting request as ready")
    .option("--tarball <backend=file>", "the file of a backend; may be repeated", repeated)
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
    .description(
      "request the measurement of an artifact; adds to a request in progress what it lacks",
    )
    .argument(
      "<artifact>",
      "the tag: a version, the date of a nightly, a commit; or a name for tarballs",
    )
    .option("--suite <name>", "the suite (default: the only one of the farm)")
    .option("--backend <name>", "only this one; may be repeated", repeated)
    .option("--profile <name>", "only this one; may be repeated", repeated)
    .option("--target <name>", "only this one; may be repeated", repeated)
    .option("--benchmark <name>", "only this one; may be repeated", repeated)
    .addOption(new Option("--kind <kind>", "the kind of the artifact").choices(RequestKind.options))
    .option("--parent <artifact>", "the artifact to compare with (default: the previous one)")
    .option("--pr <number>", "the pull request of the artifact", numberFrom(0, 999_999_999))
    .option("--paired", "run it in turn with its parent, for noisy metrics")
    .option("--no-paired", "do not run pairs, even if the suite does")
    .option(
      "--runs <number>",
      `the number of runs of each case, at least that of the suite, at most ${mostRuns}`,
      numberFrom(1, mostRuns),
    )
    .option("--no-parents", "do not measure parents that have no figures")
    .option("--alone", "measure it without a comparison")
    .option("--tarball <backend=file>", "your own build; once for each backend", repeated)
    .option(
      "--wait-for-artifacts",
      "the artifact does not exist yet; call `grange bench ready` when it does",
    )
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
      "a nightly, and the nightlies before it that have no figures",
      "bench request nightly-20260601 --suite typescript",
    ],
    ["a pull request, with verdicts about times", "bench request 3f2c91d --pr 812 --paired"],
    ["your own build", "bench request mine --tarball native=built.tgz --parent 7.0.2"],
  ]);
}

function describeLists(command: Command): void {
  speaksToServer(command.command("requests"))
    .description("list requests, newest first")
    .option("--suite <name>", "only requests of this suite")
    .addOption(
      new Option("--state <state>", "only requests in this state").choices(RequestState.options),
    )
    .option("--limit <number>", "the number of lines, at most 1000", numberFrom(1, 1_000), 30)
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
    .description("list the artifacts of a suite, newest first")
    .option("--suite <name>", "the suite (default: the only one of the farm)")
    .addOption(
      new Option("--kind <kind>", "only artifacts of this kind").choices(RequestKind.options),
    )
    .option("--before <artifact>", "continue after this artifact")
    .option("--limit <number>", "the number of lines, at most 1000", numberFrom(1, 1_000), 50)
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
    .description("show the queue with expected ends, the collectors, and problems")
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
    .description(`${what}; name it by a prefix of its id, or \`latest\``)
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
    if (at < 1)
      throw new UsageError(
        `"${printableLine(each)}" is not valid for --tarball: write BACKEND=FILE`,
      );
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
    `\`grange bench show ${id}\` shows its progress; \`grange bench status\` shows the queue.`,
    pageLine(api.serverUrl, ["requests", request.id]),
  ];
}
