import { type Command, Option } from "commander";
import type { BenchmarkSearchView, StartBenchmarkSearch } from "#api/benchmark-history.ts";
import { caseKey } from "#core/test-case.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { namedCase } from "./named-case.ts";
import { pageLine } from "./page-address.ts";

interface SearchOptions extends CommonOptions {
  readonly suite?: string;
  readonly metric?: string;
  readonly from: string;
  readonly to: string;
  readonly every?: string;
  readonly least: string;
}

type Kind = StartBenchmarkSearch["kind"];

/** `grange bench scan | refine | bisect | searches`. */
export function describeSearchCommands(command: Command): void {
  describeStart(command, "scan", "scan", "measure artifacts all along a stretch of the main line");
  describeStart(
    command,
    "refine",
    "change-points",
    "divide the gaps over which a figure changed, until each step stands between neighbours",
  );
  describeStart(command, "bisect", "bisect", "find the artifact that made the largest step");

  speaksToServer(command.command("searches"))
    .description("list searches, or show or cancel one")
    .argument("[id]", "the beginning of its id")
    .option("--cancel", "end it")
    .action((written: string | undefined, options: CommonOptions & { cancel?: boolean }) =>
      inSession(options, async (session) => {
        const { benchmarkSearchEndpoints } = await import(
          "#api/endpoints/benchmark-search-endpoints.ts"
        );
        const { api } = session;
        const { searches } = await api.call(benchmarkSearchEndpoints.benchmarkSearches, {});
        if (written === undefined) {
          if (options.cancel === true) throw new UsageError("say which search to cancel");
          return answer(session, options, searches, () =>
            searches.length === 0
              ? ["No searches yet; `grange bench bisect --help` says how to begin one."]
              : tableLines(searches.map(rowOf)),
          );
        }
        const { id } = theOne(searches, written);
        const params = { search: id };
        const now =
          options.cancel === true
            ? await api.call(benchmarkSearchEndpoints.cancelBenchmarkSearch, { params })
            : await api.call(benchmarkSearchEndpoints.benchmarkSearch, { params });
        return answer(session, options, now, () => [
          ...linesOf(now),
          pageLine(session.api.serverUrl, ["searches", now.id]),
        ]);
      }),
    );
}

function describeStart(command: Command, name: string, kind: Kind, what: string): void {
  const described = speaksToServer(command.command(name))
    .description(what)
    .argument("<words...>", "of the case: all six, or as many as name one alone")
    .option("--suite <name>", "default: the farm's only one")
    .requiredOption("--from <artifact>", "the first of the stretch")
    .requiredOption("--to <artifact>", "the last of the stretch")
    .option("--metric <name>", "default: the suite's headline")
    .option("--least <percent>", "changes below it are no steps", "1");
  if (kind === "scan") {
    described.addOption(
      new Option(
        "--every <n>",
        "every how many artifacts; or `week` or `month`: the first of each",
      ),
    );
  }
  withExamples(described, [examples[kind]]);
  described.action((words: string[], options: SearchOptions) =>
    inSession(options, async (session) => {
      const wanted = await wantedFrom(session, kind, words, options);
      const { benchmarkSearchEndpoints } = await import(
        "#api/endpoints/benchmark-search-endpoints.ts"
      );
      const started = await session.api.call(benchmarkSearchEndpoints.startBenchmarkSearch, {
        body: wanted,
      });
      return answer(session, options, started, () => [
        ...linesOf(started),
        `\`grange bench searches ${started.id.slice(0, 8)}\` says how far it is.`,
        pageLine(session.api.serverUrl, ["searches", started.id]),
      ]);
    }),
  );
}

const stretch = "--from nightly-20260401 --to nightly-20260630";
const examples: Readonly<Record<Kind, readonly [string, string]>> = {
  scan: ["the first of each week", `bench scan rxjs check full native ${stretch} --every week`],
  "change-points": [
    "every step of half a per cent",
    `bench refine rxjs check full native ${stretch} --least 0.5`,
  ],
  bisect: ["which day made it slower", `bench bisect rxjs check full native ${stretch}`],
};

async function wantedFrom(
  session: Session,
  kind: Kind,
  words: readonly string[],
  options: SearchOptions,
): Promise<StartBenchmarkSearch> {
  const numbers = numbersOf(options);
  const { from, to, metric } = options;
  const { suite, testCase } = await namedCase(session, options, words);
  const named = metric === undefined ? {} : { metric };
  return { suite, kind, case: testCase, from, to, ...named, ...numbers };
}

function numbersOf({
  least: percent,
  every,
}: SearchOptions): Pick<StartBenchmarkSearch, "least" | "every"> {
  const least = Number(percent) / 100;
  if (!(least > 0)) throw new UsageError("--least is a number of per cent above 0, such as 0.5");
  if (every === undefined) return { least };
  if (every === "week" || every === "month") return { least, every };
  if (!/^[1-9]\d{0,3}$/.test(every))
    throw new UsageError("--every is a whole number from 1 to 9999, `week` or `month`");
  return { least, every: Number(every) };
}

function theOne(searches: readonly BenchmarkSearchView[], written: string): BenchmarkSearchView {
  const found = searches.filter(({ id }) => id.startsWith(written));
  const [only, another] = found;
  if (only === undefined)
    throw new UsageError(`no search of late begins with "${printableLine(written)}"`);
  if (another !== undefined)
    throw new UsageError(`"${written}" begins ${found.length} searches' ids; write more of it`);
  return only;
}

function rowOf(search: BenchmarkSearchView): string[] {
  return [
    search.id.slice(0, 8),
    search.kind,
    search.state,
    `${search.from} … ${search.to}`,
    caseKey(search.case),
    search.metric,
    `${search.measured} of ${search.artifacts}`,
  ];
}

function linesOf(search: BenchmarkSearchView): string[] {
  return [
    ...tableLines([rowOf(search)]),
    printableLine(search.sentence),
    ...search.steps.map(
      ({ before, artifact, change, exact }) =>
        `  ${change > 0 ? "+" : ""}${(change * 100).toFixed(2)} %  ${before} → ${artifact}${exact ? "" : " (what lies between could not be measured)"}`,
    ),
  ];
}
