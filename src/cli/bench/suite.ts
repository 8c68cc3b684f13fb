import type { Command } from "commander";
import type { PushedSuite, SuiteDetail, SuiteView } from "#api/benchmark-history.ts";
import { messageOf } from "#core/fault.ts";
import { planCases } from "#suites/plan-cases.ts";
import { planJobs } from "#suites/plan-jobs.ts";
import { readSuiteFile, suiteDigest } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import { answersJson, speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { suiteFiles } from "./suite-files.ts";

interface Checked {
  readonly file: string;
  readonly suite: string | null;
  readonly digest: string | null;
  /** The number for all backends and profiles, on one target. */
  readonly cases: number | null;
  readonly problems: readonly string[];
}

/** `grange bench suite check | push | list | show`. */
export function describeSuiteCommands(command: Command): void {
  const suite = command.command("suite").description("check, push and show definitions of suites");

  answersJson(suite.command("check [files...]"))
    .description("check definitions (default: all of .grange/bench/), without a farm")
    .action((named: string[], options: CommonOptions) =>
      inSession(options, async (session) => {
        const checked = await Promise.all((await suiteFiles(named)).map(checkedFile));
        answer(session, options, { files: checked }, () => checked.flatMap(checkedLines));
        return checked.every(({ problems }) => problems.length === 0)
          ? exitCodes.ok
          : exitCodes.failed;
      }),
    );

  speaksToServer(suite.command("push [files...]"))
    .description("push definitions to a farm (default: all of .grange/bench/)")
    .action((named: string[], options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkSuiteEndpoints } = await import(
          "#api/endpoints/benchmark-suite-endpoints.ts"
        );
        const suites: Suite[] = [];
        // All files are read before any is pushed.
        for (const file of await suiteFiles(named)) suites.push(await readSuiteFile(file));
        const pushed: PushedSuite[] = [];
        for (const each of suites)
          pushed.push(
            await session.api.call(benchmarkSuiteEndpoints.pushBenchmarkSuite, {
              params: { suite: each.suite },
              body: { definition: each },
            }),
          );
        return answer(session, options, { suites: pushed }, () => [
          ...pushed.map(
            ({ name, digest, changed }) =>
              `${printableLine(name)} ${digest.slice(0, 12)} ${changed ? "was pushed" : "exists already"}`,
          ),
          "To measure an artifact with it: grange bench request",
        ]);
      }),
    );

  speaksToServer(suite.command("list"))
    .description("list the suites of a farm")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkSuiteEndpoints } = await import(
          "#api/endpoints/benchmark-suite-endpoints.ts"
        );
        const found = await session.api.call(benchmarkSuiteEndpoints.benchmarkSuites, {});
        return answer(session, options, found, () => listLines(found.suites));
      }),
    );

  speaksToServer(suite.command("show <name>"))
    .description("show a suite of a farm; with --json, also its definition")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkSuiteEndpoints } = await import(
          "#api/endpoints/benchmark-suite-endpoints.ts"
        );
        const found = await session.api.call(benchmarkSuiteEndpoints.benchmarkSuite, {
          params: { suite: name },
        });
        return answer(session, options, found, () => detailLines(found));
      }),
    );

  withExamples(suite, [
    ["check the definitions of this checkout", "bench suite check"],
    ["push one definition to the farm", "bench suite push .grange/bench/typescript.yml"],
  ]);
}

async function checkedFile(file: string): Promise<Checked> {
  try {
    const suite = await readSuiteFile(file);
    return {
      file,
      suite: suite.suite,
      digest: suiteDigest(suite),
      cases: casesOf(suite),
      problems: [],
    };
  } catch (reason) {
    const problems = messageOf(reason).split("\n");
    return { file, suite: null, digest: null, cases: null, problems };
  }
}

function casesOf(suite: Suite): number {
  const [target = ""] = Object.keys(suite.targets);
  const backends = Object.keys(suite.backends);
  const sections = [suite.compile, suite.runtime, suite.toolchain];
  const profiles = sections.flatMap((section) => Object.keys(section?.profiles ?? {}));
  const all = { backends, available: backends, profiles, targets: [target], benchmarks: [] };
  return planJobs(suite, all).flatMap((job) => planCases(suite, job)).length;
}

function checkedLines({ file, suite, digest, cases, problems }: Checked): string[] {
  if (problems.length > 0) return problems.map(printableLine);
  return [
    `${printableLine(file)}: ${suite} ${digest?.slice(0, 12)} is valid; ${cases} test cases on each target`,
  ];
}

function listLines(suites: readonly SuiteView[]): string[] {
  if (suites.length === 0)
    return ["None. `grange bench suite push` stores those of a checkout at the farm."];
  return tableLines([
    ["suite", "digest", "benchmarks", "artifacts", "measured", "changed", "by"],
    ...suites.map((each) => [
      each.name,
      each.digest.slice(0, 12),
      String(each.benchmarks.length),
      String(each.artifacts),
      String(each.measured),
      each.changedAt.slice(0, 16).replace("T", " "),
      printableLine(each.changedBy),
    ]),
  ]);
}

function detailLines(suite: SuiteDetail): string[] {
  const words = (names: readonly string[]) => (names.length === 0 ? "-" : names.join(", "));
  const metrics = suite.metrics.map(({ name, decides }) =>
    decides ? name : `${name} (does not count for verdicts)`,
  );
  return [
    suite.name,
    ...(suite.description === "" ? [] : [printableLine(suite.description)]),
    ...tableLines([
      ["digest", `${suite.digest}, of ${suite.changedAt} by ${printableLine(suite.changedBy)}`],
      ["backends", words(suite.backends)],
      ["targets", words(suite.targets)],
      ["profiles", words(suite.profiles)],
      ["scenarios", words(suite.scenarios)],
      ["metrics", words(metrics)],
      ["artifacts", `${suite.artifacts} known, ${suite.measured} measured`],
    ]),
    "",
    ...tableLines([
      ["section", "benchmark", "set"],
      ...suite.benchmarks.map(({ section, name, set }) => [section, name, String(set)]),
    ]),
  ];
}
