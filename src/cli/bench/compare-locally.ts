import { existsSync } from "node:fs";
import { changesToConfirm } from "#comparison/changes-to-confirm.ts";
import { type ComparedArtifacts, compareArtifacts } from "#comparison/compare-artifacts.ts";
import type { MeasuredCase, PairedCase } from "#comparison/measured.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { ExitCode } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { type BenchPlaces, benchPlaces } from "./bench-places.ts";
import type { CompareOptions } from "./compare.ts";
import { comparisonLines } from "./compare-lines.ts";
import { localSuite } from "./local-suite.ts";
import {
  failures,
  keptResults,
  keptTags,
  measuredCases,
  type ResultFile,
  readResultFile,
} from "./result-file.ts";

/** One side: the newest results first, at least one. */
export interface Side {
  readonly tag: string;
  readonly files: readonly [ResultFile, ...ResultFile[]];
}

export interface LocalComparison extends ComparedArtifacts {
  readonly suite: string;
  readonly before: string;
  readonly after: string;
  readonly metrics: readonly Metric[];
}

export async function compareLocally(
  session: Session,
  before: string,
  after: string,
  options: CompareOptions,
): Promise<ExitCode> {
  const places = benchPlaces(options.data ?? session.config.benchDir);
  const sides = await bothSides(places, [before, after], options);
  const { metrics } = sides[1].files[0];
  if (options.metric !== undefined && !metrics.some(({ name }) => name === options.metric)) {
    const known = metrics.map(({ name }) => name).join(", ");
    throw new UsageError(`there is no metric ${options.metric}; the metrics are ${known}`);
  }
  const across = acrossOf(options.across);
  let pairs: PairedCase[] = [];
  if (options.measure === true) {
    if (across !== undefined) {
      throw new UsageError("--measure works within one backend; omit --across");
    }
    const { measureBetween } = await import("./measure-between.ts");
    pairs = await measureBetween(session, places, sides, options, (taken) =>
      changesToConfirm(compareSides(sides, undefined, undefined, taken).cases),
    );
  }
  const comparison = compareSides(sides, options.metric, across, pairs);
  return answer(session, options, comparison, () =>
    comparisonLines(comparison, {
      all: options.all ?? false,
      toKnow: `grange bench compare ${before} ${after} --measure`,
      metric: options.metric,
      paint: session.terminal.answer.paint,
      why: whyNothing(sides, comparison),
    }),
  );
}

/** Pure. */
function compareSides(
  [before, after]: readonly [Side, Side],
  metric: string | undefined,
  across: Across | undefined,
  pairs: readonly PairedCase[],
): LocalComparison {
  const categories = new Map(
    [...before.files, ...after.files].flatMap(({ tests }) =>
      tests.map(({ case: testCase, category }) => [caseKey(testCase), category] as const),
    ),
  );
  const { metrics, suite } = after.files[0];
  return {
    suite,
    before: before.tag,
    after: after.tag,
    metrics,
    ...compareArtifacts({
      metrics,
      metric,
      before: acrossCases(measuredCases(before.files, "this machine"), across),
      after: measuredCases(after.files, "this machine"),
      categoryOf: (testCase: TestCase) => categories.get(caseKey(testCase)) ?? "secondary",
      // A single machine has no main line: the fixed threshold applies.
      historyOf: () => [],
      pairs,
      limitOf: () => undefined,
      errors: { before: failures(before.files), after: failures(after.files) },
    }),
  };
}

export interface Across {
  readonly from: string;
  readonly to: string;
}

function acrossOf(text: string | undefined): Across | undefined {
  if (text === undefined) return undefined;
  const [from = "", to = "", more] = text.split(":");
  if (from !== "" && to !== "" && more === undefined) return { from, to };
  throw new UsageError("--across takes two backends, as in js:native");
}

/** Returns cases of one backend as if they belonged to the other. */
function acrossCases(cases: readonly MeasuredCase[], across: Across | undefined): MeasuredCase[] {
  if (across === undefined) return [...cases];
  return cases
    .filter(({ case: { backend } }) => backend === across.from)
    .map((each) => ({ ...each, case: { ...each.case, backend: across.to } }));
}

async function bothSides(
  places: BenchPlaces,
  [before, after]: readonly [string, string],
  options: CompareOptions,
): Promise<readonly [Side, Side]> {
  const sides = [
    await sideOf(places, before, options),
    await sideOf(places, after, options),
  ] as const;
  const [{ suite: one }, { suite: other }] = [sides[0].files[0], sides[1].files[0]];
  if (one !== other) {
    throw new Fault(
      "failed_precondition",
      `${before} was measured with suite ${one}, ${after} with ${other}`,
    );
  }
  return sides;
}

async function sideOf(places: BenchPlaces, named: string, options: CompareOptions): Promise<Side> {
  if (/[/.]/.test(named) && existsSync(named)) {
    const file = await readResultFile(named);
    return { tag: file.artifact.tag, files: [file] };
  }
  const { suite } = await localSuite(options.suite, process.cwd());
  const [newest, ...older] = await keptResults(places.results, suite, named);
  if (newest !== undefined) return { tag: named, files: [newest, ...older] };
  const tags = await keptTags(places.results, suite);
  const known =
    tags.length === 0 ? "nothing has been measured yet" : `measured: ${tags.join(", ")}`;
  throw new Fault(
    "not_found",
    `${named} has not been measured here with suite ${suite}; ${known}. To measure it: grange bench run --artifact ${named}`,
  );
}

/** A new user's first comparison may have no common case; this must not look like "no change". */
function whyNothing(sides: readonly [Side, Side], { cases }: LocalComparison): string | undefined {
  if (cases.length > 0) return undefined;
  const backends = (side: Side) => [
    ...new Set(side.files.flatMap(({ tests }) => tests.map(({ case: { backend } }) => backend))),
  ];
  const [before, after] = [backends(sides[0]), backends(sides[1])];
  if (before.some((backend) => after.includes(backend))) return "The two have no figure in common.";
  return (
    `The two have no backend in common: ${sides[0].tag} was measured with ${before.join(", ")}, ` +
    `${sides[1].tag} with ${after.join(", ")}. Compare across them: --across ${before[0]}:${after[0]}`
  );
}
