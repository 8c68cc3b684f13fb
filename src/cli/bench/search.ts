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
  describeStart(
    command,
    "scan",
    "scan",
    "measure all artifacts of a range of the main line, or every n-th",
  );
  describeStart(
    command,
    "refine",
    "change-points",
    "measure artifacts between those with different figures, until each step lies between neighbours",
  );
  describeStart(command, "bisect", "bisect", "find the artifact that caused the largest step");

  speaksToServer(command.command("searches"))
    .description("list searches, or show or cancel one")
    .argument("[id]", "a prefix of its id")
    .option("--cancel", "cancel it")
    .action((written: string | undefined, options: CommonOptions & { cancel?: boolean }) =>
      inSession(options, async (session) => {
        const { benchmarkSearchEndpoints } = await import(
          "#api/endpoints/benchmark-search-endpoints.ts"
        );
        const { api } = session;
        const { searches } = await api.call(benchmarkSearchEndpoints.benchmarkSearches, {});
        if (written === undefined) {
          if (options.cancel === true) throw new UsageError("name the search to cancel");
          return answer(session, options, searches, () =>
            searches.length === 0
              ? ["There are no searches yet. To start one, see: grange bench bisect --help"]
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
    .argument("<words...>", "words that identify one case: all six, or fewer")
    .option("--suite <name>", "the suite (default: the only one of the farm)")
    .requiredOption("--from <artifact>", "the first artifact of the range")
    .requiredOption("--to <artifact>", "the last artifact of the range")
    .option("--metric <name>", "the metric (default: the headline of the suite)")
    .option("--least <percent>", "smaller changes do not count as steps", "1");
  if (kind === "scan") {
    described.addOption(
      new Option(
        "--every <n>",
        "every n-th artifact; or `week` or `month`: the first artifact of each",
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
        `\`grange bench searches ${started.id.slice(0, 8)}\` shows its progress.`,
        pageLine(session.api.serverUrl, ["searches", started.id]),
      ]);
    }),
  );
}

const stretch = "--from nightly-20260401 --to nightly-20260630";
const examples: Readonly<Record<Kind, readonly [string, string]>> = {
  scan: [
    "measure the first artifact of each week",
    `bench scan rxjs check full native ${stretch} --every week`,
  ],
  "change-points": [
    "find all steps of at least 0.5 %",
    `bench refine rxjs check full native ${stretch} --least 0.5`,
  ],
  bisect: [
    "find the nightly that made it slower",
    `bench bisect rxjs check full native ${stretch}`,
  ],
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
  if (!(least > 0)) throw new UsageError("--least must be a percentage above 0, such as 0.5");
  if (every === undefined) return { least };
  if (every === "week" || every === "month") return { least, every };
  if (!/^[1-9]\d{0,3}$/.test(every))
    throw new UsageError("--every must be a whole number from 1 to 9999, `week` or `month`");
  return { least, every: Number(every) };
}

function theOne(searches: readonly BenchmarkSearchView[], written: string): BenchmarkSearchView {
  const found = searches.filter(({ id }) => id.startsWith(written));
  const [only, another] = found;
  if (only === undefined)
    throw new UsageError(`no recent search has an id that begins with "${printableLine(written)}"`);
  if (another !== undefined)
    throw new UsageError(
      `"${written}" is the prefix of ${found.length} ids of searches; write a longer one`,
    );
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
        `  ${change > 0 ? "+" : ""}${(change * 100).toFixed(2)} %  ${before} → ${artifact}${exact ? "" : " (the artifacts between could not be measured)"}`,
    ),
  ];
}
