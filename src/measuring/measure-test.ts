import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Suite } from "#suites/suite.ts";
import { placeSource } from "./folders/assemble-source.ts";
import type { MeasuredIteration } from "./measured-iteration.ts";
import { type CaseParts, type ProcessKind, partsOf } from "./plan-run.ts";
import type { Counter } from "./processes/counters.ts";
import type { MeasuringTools } from "./processes/tools.ts";
import { type ProcessResult, runOnce } from "./run-once.ts";
import { metricsFrom } from "./values-of.ts";
import type { WorkPlace } from "./work-place.ts";

interface TestToMeasure {
  readonly suite: Suite;
  readonly case: TestCase;
  readonly artifact: PlacedArtifact;
  readonly place: WorkPlace;
  readonly signal: AbortSignal;
  /** Replaces the suite's. */
  readonly iterations?: Partial<Suite["iterations"]> | undefined;
  /** Iterations are numbered from the one after this. */
  readonly after?: number | undefined;
}

/** Measures one test case. A failing benchmark throws a `Fault` with the reason, and does not affect others. */
export async function measureTest(test: TestToMeasure): Promise<MeasuredIteration[]> {
  const { suite, place, artifact, signal } = test;
  const parts = partsOf(suite, test.case);
  const counter = counterFor(parts, place.tools);
  const wanted = { ...suite.iterations, ...test.iterations };
  const isWanted = (kind: ProcessKind) => metricsFrom(suite, test.case.section, kind).length > 0;
  if (isWanted("counted") && counter === undefined) place.note(whyUncounted(test.case, parts));
  const counted = isWanted("counted") && counter !== undefined ? wanted.counted : 0;
  const timed = isWanted("timed") ? wanted.timed : 0;
  if (counted + timed === 0) {
    throw new Fault(
      "failed_precondition",
      `no metric of ${caseKey(test.case)} can be measured on this machine`,
    );
  }
  const source = await placeSource(parts.benchmark, place.cache, artifact, signal);
  try {
    const iterations: MeasuredIteration[] = [];
    for (let iteration = 1; iteration <= Math.max(counted, timed); iteration++) {
      const results: ProcessResult[] = [];
      if (iteration <= counted)
        results.push(await runOnce("counted", { ...test, source, counter }));
      if (iteration <= timed) results.push(await runOnce("timed", { ...test, source }));
      iterations.push(merged((test.after ?? 0) + iteration, results));
    }
    return iterations;
  } finally {
    await source.release();
  }
}

/** Hardware counters if there are any; a simulator only if the suite names it, because it is slow. */
function counterFor(
  { backend }: Pick<CaseParts, "backend">,
  tools: Pick<MeasuringTools, "counters">,
): Counter | undefined {
  const { without } = backend.instructions;
  return tools.counters.find(({ counter }) => counter.kind === "perf" || counter.kind === without)
    ?.counter;
}

function whyUncounted({ backend }: TestCase, parts: CaseParts): string {
  return parts.backend.instructions.without === "cachegrind"
    ? "instructions are not counted: there are neither hardware counters (perf) nor valgrind here"
    : `instructions of ${backend} are not counted: there are no hardware counters (perf) here`;
}

function merged(iteration: number, results: readonly ProcessResult[]): MeasuredIteration {
  return {
    iteration,
    values: Object.assign({}, ...results.map(({ values }) => values)),
    warnings: results.flatMap(({ warnings }) => warnings),
  };
}
