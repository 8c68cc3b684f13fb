import { Fault, messageOf } from "#core/fault.ts";
import type { TestCase } from "#core/test-case.ts";
import { measureTest } from "#measuring/measure-test.ts";
import type { MeasuredIteration } from "#measuring/measured-iteration.ts";
import type { WorkPlace } from "#measuring/work-place.ts";
import { categoryOf } from "#suites/category-of.ts";
import type { Suite } from "#suites/suite.ts";
import type { PlacedBackends } from "./local-artifact.ts";
import type { ResultFile } from "./result-file.ts";

interface AllToMeasure {
  readonly suite: Suite;
  readonly cases: readonly TestCase[];
  readonly placed: PlacedBackends;
  readonly place: WorkPlace;
  readonly timed: number | undefined;
  readonly signal: AbortSignal;
  readonly began: (testCase: TestCase, index: number) => void;
  readonly ended: (test: ResultFile["tests"][number]) => void;
}

/** Measures one case after the other. A failure is recorded and does not affect the others. */
export async function measureAll(all: AllToMeasure): Promise<ResultFile["tests"]> {
  const { suite, cases, placed, place, timed, signal } = all;
  const tests: ResultFile["tests"] = [];
  for (const [index, testCase] of cases.entries()) {
    all.began(testCase, index);
    let iterations: MeasuredIteration[] = [];
    let error: string | null = null;
    try {
      const artifact = await placed.of(testCase.backend, signal);
      iterations = await measureTest({
        suite,
        case: testCase,
        artifact,
        place,
        signal,
        ...(timed !== undefined && { iterations: { timed } }),
      });
    } catch (reason) {
      // Stopped by the user: the existing measurements are kept. An error that is not a Fault is a bug.
      if (signal.aborted) return tests;
      if (!(reason instanceof Fault)) throw reason;
      error = messageOf(reason);
    }
    const test = {
      case: testCase,
      category: categoryOf(suite, testCase),
      iterations: iterations.map((each) => ({ ...each, warnings: each.warnings.slice(0, 20) })),
      error,
    };
    tests.push(test);
    all.ended(test);
  }
  return tests;
}
