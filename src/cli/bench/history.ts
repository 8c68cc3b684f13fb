import { type Command, Option } from "commander";
import { caseKey } from "#core/test-case.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { durationMs } from "../duration-ms.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { numberFrom } from "../whole-number.ts";
import { farmSuite } from "./farm-suite.ts";
import { reportLines, seriesLines, stepLines } from "./history-lines.ts";
import { namedCase } from "./named-case.ts";
import { noiseLines } from "./noise-lines.ts";
import { pageLine } from "./page-address.ts";

interface OfSuite extends CommonOptions {
  readonly suite?: string;
}
interface HistoryOptions extends OfSuite {
  readonly metric?: string;
  readonly kind: "master" | "release";
  readonly limit: number;
}
interface SayOptions extends OfSuite {
  readonly metric?: string;
  readonly fingerprint?: string;
  readonly note?: string;
}

/** `grange bench history | noise | report | regressions | accept | dismiss`. */
export function describeHistoryCommands(command: Command): void {
  describeHistory(command);
  describeNoise(command);
  describeReport(command);
  describeRegressions(command);
  describeSay(
    command,
    "accept",
    "accepted",
    "accept a step as intended: later figures are no longer compared with those before it",
  );
  describeSay(
    command,
    "dismiss",
    "dismissed",
    "dismiss a step: it is noise or a measurement error",
  );
}

function ofSuite(command: Command): Command {
  return speaksToServer(command).option(
    "--suite <name>",
    "the suite (default: the only one of the farm)",
  );
}

function describeHistory(command: Command): void {
  const history = ofSuite(command.command("history"))
    .description("show the figures of a case along the main line, with steps")
    .argument("<words...>", "words that identify one case: all six, or fewer")
    .option("--metric <name>", "the metric (default: the headline of the suite)")
    .addOption(
      new Option("--kind <kind>", "only artifacts of this kind")
        .choices(["master", "release"])
        .default("master"),
    )
    .option("--limit <n>", "the number of latest points", numberFrom(1, 100_000), 30)
    .action((words: string[], options: HistoryOptions) =>
      inSession(options, async (session) => {
        const { benchmarkHistoryEndpoints } = await import(
          "#api/endpoints/benchmark-history-endpoints.ts"
        );
        const { metric, kind, limit } = options;
        const { suite, testCase } = await namedCase(session, options, words);
        const series = await session.api.call(benchmarkHistoryEndpoints.benchmarkSeries, {
          query: { suite, case: caseKey(testCase), metric, kind },
        });
        return answer(session, options, series, () => [
          ...seriesLines(series, limit, session.terminal.answer.paint),
          "",
          pageLine(session.api.serverUrl, ["series"], {
            suite,
            case: caseKey(testCase),
            metric: series.metric.name,
            ...(kind === "master" ? {} : { kind }),
          }),
        ]);
      }),
    );
  withExamples(history, [
    ["a case, by enough words to identify it", "bench history rxjs check full native"],
    ["only releases", "bench history rxjs check full js --kind release --metric wall-time"],
  ]);
}

function describeNoise(command: Command): void {
  const noise = ofSuite(command.command("noise"))
    .description("show the noise of a case, and the limits that follow from it")
    .argument("<words...>", "words that identify one case: all six, or fewer")
    .action((words: string[], options: OfSuite) =>
      inSession(options, async (session) => {
        const { suite, testCase } = await namedCase(session, options, words);
        const { benchmarkHistoryEndpoints } = await import(
          "#api/endpoints/benchmark-history-endpoints.ts"
        );
        const found = await session.api.call(benchmarkHistoryEndpoints.benchmarkNoise, {
          query: { suite, case: caseKey(testCase) },
        });
        return answer(session, options, found, () => [
          ...noiseLines(found, session.terminal.answer.paint),
          "",
          pageLine(session.api.serverUrl, ["noise"], { suite, case: caseKey(testCase) }),
        ]);
      }),
    );
  withExamples(noise, [
    ["the noise of all metrics of a case", "bench noise rxjs check full native"],
  ]);
}

function describeReport(command: Command): void {
  const report = speaksToServer(command.command("report"))
    .description("show the result of a request: the comparison of its artifact with the parent")
    .argument("<request>", "a prefix of its id, or `latest`")
    .option("--suite <name>", "with latest: the suite")
    .option("--markdown", "print Markdown, for example for a comment")
    .action((request: string, options: OfSuite & { readonly markdown?: boolean }) =>
      inSession(options, async (session) => {
        const { benchmarkRequestEndpoints } = await import(
          "#api/endpoints/benchmark-request-endpoints.ts"
        );
        const found = await session.api.call(benchmarkRequestEndpoints.benchmarkReport, {
          params: { request },
          query: { suite: options.suite },
        });
        return answer(session, options, found, () =>
          options.markdown === true
            ? found.markdown.split("\n")
            : [
                ...reportLines(found, session.terminal.answer.paint),
                pageLine(session.api.serverUrl, ["compare"], {
                  suite: found.suite,
                  before: found.before,
                  after: found.after,
                }),
              ],
        );
      }),
    );
  withExamples(report, [["the report of the request that ended last", "bench report latest"]]);
}

function describeRegressions(command: Command): void {
  const regressions = ofSuite(command.command("regressions"))
    .description("list regressions on the main line, by artifact")
    .option(
      "--since <when>",
      "a date, or a period before now: 2026-06-01, 90d (default: 14d)",
      sinceFrom,
    )
    .option("--all", "also improvements, and accepted and dismissed steps")
    .action((options: OfSuite & { readonly since?: string; readonly all?: boolean }) =>
      inSession(options, async (session) => {
        const { benchmarkHistoryEndpoints } = await import(
          "#api/endpoints/benchmark-history-endpoints.ts"
        );
        const suite = await farmSuite(session.api, options.suite);
        const all = options.all === true;
        const since = options.since ?? sinceFrom("14d");
        const steps = await session.api.call(benchmarkHistoryEndpoints.benchmarkChangePoints, {
          query: { suite, since, standing: all ? "all" : "found" },
        });
        return answer(session, options, steps, () => [
          ...stepLines(steps, all, session.terminal.answer.paint),
          "",
          pageLine(session.api.serverUrl, ["graphs"], { suite }),
        ]);
      }),
    );
  withExamples(regressions, [["regressions of a month", "bench regressions --since 30d"]]);
}

function describeSay(
  command: Command,
  name: string,
  standing: "accepted" | "dismissed",
  what: string,
): void {
  const say = ofSuite(command.command(name))
    .description(what)
    .argument("<artifact>", "the first artifact after the step")
    .argument("<words...>", "words that identify one case: all six, or fewer")
    .option("--metric <name>", "the metric (default: the headline of the suite)")
    .option(
      "--fingerprint <text>",
      "a prefix of the fingerprint, if there are several kinds of machines",
    )
    .option("--note <text>", "why")
    .action((artifact: string, words: string[], options: SayOptions) =>
      inSession(options, async (session) => {
        const { suite, testCase } = await namedCase(session, options, words);
        const { metric: named, fingerprint: beginning = "", note = null } = options;
        const { benchmarkHistoryEndpoints } = await import(
          "#api/endpoints/benchmark-history-endpoints.ts"
        );
        const series = await session.api.call(benchmarkHistoryEndpoints.benchmarkSeries, {
          query: { suite, case: caseKey(testCase), metric: named },
        });
        const metric = series.metric.name;
        const kinds = series.points
          .filter((each) => each.artifact === artifact && each.fingerprint.startsWith(beginning))
          .map(({ fingerprint }) => fingerprint);
        const [fingerprint, another] = [...new Set(kinds)];
        if (fingerprint === undefined)
          throw new UsageError(`${metric} of it was not measured of "${artifact}"`);
        if (another !== undefined)
          throw new UsageError(
            "it was measured on several kinds of machines; name one: --fingerprint",
          );
        const judged = await session.api.call(benchmarkHistoryEndpoints.judgeBenchmarkChangePoint, {
          body: {
            suite,
            case: testCase,
            metric,
            fingerprint,
            artifact,
            standing,
            note,
          },
        });
        return answer(session, options, judged, () => [
          `The step of ${metric} at ${judged.artifact} is ${judged.standing}.`,
        ]);
      }),
    );
  withExamples(say, [
    [
      "name the artifact that caused the step, as in `grange bench history`",
      `bench ${name} nightly-20260601 rxjs check full native --note "${standing === "accepted" ? "checks more" : "noise"}"`,
    ],
  ]);
}

function sinceFrom(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const time = new Date(text);
    if (!Number.isNaN(time.getTime())) return time.toISOString();
  }
  return new Date(Date.now() - durationMs(text)).toISOString();
}
