import { Fault } from "#core/fault.ts";
import type { TestCase } from "#core/test-case.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { suiteDigest } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { benchPlaces } from "./bench-places.ts";
import { chooseCases } from "./choose-cases.ts";
import { caseText, figureText } from "./figure-text.ts";
import { localArtifact, PlacedBackends } from "./local-artifact.ts";
import { localSuite, targetHere } from "./local-suite.ts";
import { measureAll } from "./measure-all.ts";
import { type Bench, withBench } from "./open-bench.ts";
import { bestOf, keepResult, type ResultFile, writeResultFile } from "./result-file.ts";
import type { RunOptions } from "./run.ts";

export async function runLocally(session: Session, options: RunOptions): Promise<ExitCode> {
  const suite = await localSuite(options.suite, process.cwd());
  const target = targetHere(suite);
  const places = benchPlaces(options.data ?? session.config.benchDir);
  const backends = options.backend ?? [];
  const artifact = await localArtifact(suite, options.artifact, {
    as: options.as,
    backends,
    signal: new AbortController().signal,
  });
  const cases = chooseCases(suite, target, Object.keys(artifact.components), {
    sections: options.section ?? [],
    backends,
    profiles: options.profile ?? [],
    scenarios: options.scenario ?? [],
    benchmarks: options.benchmark ?? [],
  });
  if (cases.length === 0) {
    throw new Fault(
      "failed_precondition",
      `no case of suite ${suite.suite} matches: ${artifact.tag} has ${Object.keys(artifact.components).join(", ") || "no backend"}`,
    );
  }
  if (options.list === true) return answer(session, options, { cases }, () => cases.map(caseText));

  return withBench(session, places, options.sandbox, async (bench) => {
    const placed = new PlacedBackends(bench.cache, suite, artifact);
    try {
      const tests = await measureCases(session, suite, cases, placed, bench, options.iterations);
      const result: ResultFile = {
        grange: "benchmark results 1",
        suite: suite.suite,
        suiteDigest: suiteDigest(suite),
        artifact,
        measuredAt: new Date().toISOString(),
        environment: bench.facts,
        fingerprint: bench.fingerprint,
        metrics: metricsOf(suite),
        tests,
        notes: [...bench.notes],
      };
      if (tests.length > 0) {
        const kept = await keepResult(places.results, result);
        if (options.out !== undefined) await writeResultFile(options.out, result);
        session.terminal.notes.line(`stored as ${artifact.tag}: ${options.out ?? kept}`);
      }
      answer(session, options, result, () => resultLines(result, suite.headline));
      const isWhole = tests.length === cases.length && tests.every(({ error }) => error === null);
      return isWhole ? exitCodes.ok : exitCodes.failed;
    } finally {
      await placed.release();
    }
  });
}

async function measureCases(
  { terminal }: Session,
  suite: Suite,
  cases: readonly TestCase[],
  placed: PlacedBackends,
  { place, signal }: Bench,
  timed: number | undefined,
): Promise<ResultFile["tests"]> {
  const { line, block, paint } = terminal.notes;
  const tests = await measureAll({
    suite,
    cases,
    placed,
    place,
    timed,
    signal,
    began(testCase, index) {
      const text = `[${index + 1}/${cases.length}] ${caseText(testCase)}`;
      if (block === undefined) line(text);
      else block.draw([paint.dim(`${text} …`)]);
    },
    ended({ case: testCase, error }) {
      if (error !== null) line(paint.red(`${caseText(testCase)} failed: ${firstLine(error)}`));
    },
  });
  block?.clear();
  if (tests.length < cases.length)
    line(`stopped: ${tests.length} of ${cases.length} cases measured`);
  return tests;
}

/** Returns a row for each case: the headline metric and the times, if they exist. */
export function resultLines({ artifact, metrics, tests }: ResultFile, headline: string): string[] {
  const values = new Map(tests.map((test) => [test, bestOf(test.iterations, metrics)]));
  const shown = metrics.filter(
    ({ name, decides }) =>
      (decides || name === headline) &&
      tests.some((test) => values.get(test)?.[name] !== undefined),
  );
  const rows = tests.map((test) => [
    caseText(test.case),
    ...shown.map(({ name, unit }) => {
      const value = values.get(test)?.[name];
      return value === undefined ? "–" : figureText(value, unit);
    }),
    test.error === null ? doubtText(test.iterations) : "failed",
  ]);
  const failed = tests.filter(({ error }) => error !== null);
  return [
    ...tableLines([[artifact.tag, ...shown.map(({ name }) => name), ""], ...rows]),
    ...failed.flatMap(({ case: testCase, error }) => [
      "",
      `${caseText(testCase)} failed:`,
      ...(error ?? "").split("\n").map((line) => `  ${printableLine(line)}`),
    ]),
  ];
}

function doubtText(iterations: ResultFile["tests"][number]["iterations"]): string {
  const warnings = [...new Set(iterations.flatMap(({ warnings }) => warnings))];
  return warnings.length === 0 ? "" : `(${warnings[0]}${warnings.length > 1 ? ", …" : ""})`;
}

function firstLine(text: string): string {
  return printableLine(text.split("\n", 1)[0] ?? "");
}
