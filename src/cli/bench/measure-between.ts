import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChangeToConfirm } from "#comparison/changes-to-confirm.ts";
import type { PairedCase } from "#comparison/measured.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { decidingMetrics, measurePairs } from "#measuring/measure-pairs.ts";
import type { MeasuredPair } from "#measuring/measured-iteration.ts";
import type { Suite } from "#suites/suite.ts";
import type { Session } from "../session.ts";
import type { BenchPlaces } from "./bench-places.ts";
import type { CompareOptions } from "./compare.ts";
import type { Side } from "./compare-locally.ts";
import { caseText } from "./figure-text.ts";
import { PlacedBackends } from "./local-artifact.ts";
import { localSuite } from "./local-suite.ts";
import { type Bench, withBench } from "./open-bench.ts";
import type { ResultFile } from "./result-file.ts";

type PairsOfCase = PairedCase & { readonly pairs: readonly MeasuredPair[] };

/** The cases to measure alternately; `doubts`: only for this case. */
interface ToPair {
  readonly case: TestCase;
  readonly purpose: PairedCase["purpose"];
  readonly doubts?: readonly ChangeToConfirm[] | undefined;
}

/**
 * Measures both sides alternately, for each case that both have. When the result is a change, it measures again, so
 * that chance is not reported as a change.
 */
export async function measureBetween(
  session: Session,
  places: BenchPlaces,
  [before, after]: readonly [Side, Side],
  options: CompareOptions,
  changesToConfirm: (pairs: readonly PairedCase[]) => readonly ChangeToConfirm[],
): Promise<PairedCase[]> {
  const suite = await localSuite(options.suite ?? after.files[0].suite, process.cwd());
  const cases = commonCases(before, after).filter(
    (testCase) => decidingMetrics(suite, testCase, undefined).length > 0,
  );
  return withBench(session, places, options.sandbox, async (bench) => {
    const parent = new PlacedBackends(bench.cache, suite, before.files[0].artifact);
    const child = new PlacedBackends(bench.cache, suite, after.files[0].artifact);
    const take = (wanted: readonly ToPair[]) =>
      takePairs(session, { suite, parent, child, bench, wanted });
    try {
      const first = await take(cases.map((testCase) => ({ case: testCase, purpose: "paired" })));
      const again = await take(casesToConfirm(changesToConfirm(first)));
      const measured = [...first, ...again];
      await keepPairs(places, suite.suite, before.tag, after.tag, measured);
      return measured;
    } finally {
      await parent.release();
      await child.release();
    }
  });
}

/** Returns one entry for each case, with all of its changes to confirm. */
function casesToConfirm(doubts: readonly ChangeToConfirm[]): ToPair[] {
  const byCase = new Map<string, ChangeToConfirm[]>();
  for (const doubt of doubts) {
    const key = caseKey(doubt.case);
    byCase.set(key, [...(byCase.get(key) ?? []), doubt]);
  }
  return [...byCase.values()].flatMap((its) =>
    its[0] === undefined ? [] : [{ case: its[0].case, purpose: "confirm" as const, doubts: its }],
  );
}

interface Taking {
  readonly suite: Suite;
  readonly parent: PlacedBackends;
  readonly child: PlacedBackends;
  readonly bench: Bench;
  readonly wanted: readonly ToPair[];
}

async function takePairs(
  { terminal }: Session,
  { suite, parent, child, bench, wanted }: Taking,
): Promise<PairsOfCase[]> {
  const { line, block, paint } = terminal.notes;
  const { place, signal, fingerprint } = bench;
  const taken: PairsOfCase[] = [];
  for (const [index, { case: testCase, purpose, doubts }] of wanted.entries()) {
    if (signal.aborted) break;
    const pairs: MeasuredPair[] = [];
    const what = purpose === "confirm" ? "once more: " : "";
    const text = `[${index + 1}/${wanted.length}] ${what}${caseText(testCase)}`;
    if (block === undefined) line(text);
    try {
      await measurePairs({
        suite,
        case: testCase,
        child: await child.of(testCase.backend, signal),
        parent: await parent.of(testCase.backend, signal),
        place,
        from: 0,
        doubts,
        seed: randomUUID(),
        signal,
        onPair(pair) {
          pairs.push(pair);
          block?.draw([paint.dim(`${text}: ${pairs.length} pairs`)]);
        },
      });
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason;
      if (!signal.aborted) line(paint.red(`${caseText(testCase)}: ${messageOf(reason)}`));
    } finally {
      block?.clear();
    }
    if (pairs.length === 0) continue;
    taken.push({ case: testCase, fingerprint, collector: "this machine", purpose, pairs });
  }
  return taken;
}

function commonCases(before: Side, after: Side): ResultFile["tests"][number]["case"][] {
  const casesOf = ({ files }: Side) =>
    new Map(
      files.flatMap(({ tests }) =>
        tests
          .filter(({ iterations }) => iterations.length > 0)
          .map(({ case: testCase }) => [caseKey(testCase), testCase] as const),
      ),
    );
  const other = casesOf(before);
  return [...casesOf(after)].flatMap(([key, testCase]) => (other.has(key) ? [testCase] : []));
}

/** Stores every sample, including those of earlier comparisons. */
async function keepPairs(
  places: BenchPlaces,
  suite: string,
  before: string,
  after: string,
  measured: readonly PairsOfCase[],
): Promise<void> {
  const folder = places.pairs;
  await mkdir(folder, { recursive: true });
  const name = `${new Date().toISOString().replaceAll(":", "")}.json`;
  await writeFile(
    join(folder, name),
    `${JSON.stringify({ suite, before, after, measured }, undefined, 1)}\n`,
  );
}
