import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { judgePairs, practicalLimit } from "#comparison/judge-pairs.ts";
import { isParentFirst } from "#comparison/order-of-pairs.ts";
import type { MetricValues } from "#core/benchmark-metric.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Suite } from "#suites/suite.ts";
import { placeSource } from "./folders/assemble-source.ts";
import type { MeasuredPair } from "./measured-iteration.ts";
import { partsOf } from "./plan-run.ts";
import { runOnce } from "./run-once.ts";
import { metricsFrom } from "./values-of.ts";
import type { WorkPlace } from "./work-place.ts";

interface PairsToMeasure {
  readonly suite: Suite;
  readonly case: TestCase;
  readonly child: PlacedArtifact;
  readonly parent: PlacedArtifact;
  readonly place: WorkPlace;
  /** The number of stored pairs; new numbers continue after it. */
  readonly from: number;
  /** The figures of those pairs, if they are known: they are judged together with the new ones. */
  readonly stored?: readonly PairFigures[] | undefined;
  /** For a rerun: only these metrics decide when to stop; default: all noisy ones that decide. */
  readonly doubts?: readonly { readonly metric: string }[] | undefined;
  /** How much a metric of this case differs between equal artifacts, as a fraction, if it was measured. */
  readonly noiseOf?: ((metric: string) => number | undefined) | undefined;
  /**
   * The seed for the order within pairs: a job's id. It differs for each run, including a confirming one, and stays the
   * same when a run is resumed.
   */
  readonly seed: string | number;
  /** Awaited before the next pair starts. */
  readonly onPair: (pair: MeasuredPair) => Promise<void> | void;
  readonly signal: AbortSignal;
}

interface PairFigures {
  readonly child: MetricValues;
  readonly parent: MetricValues;
  readonly parentFirst: boolean;
}

/** Alternates processes of child and parent until the noisy metrics are clear, or the rounds have ended. */
export async function measurePairs(wanted: PairsToMeasure): Promise<MeasuredPair[]> {
  const { suite, place, child, parent, signal } = wanted;
  const { benchmark } = partsOf(suite, wanted.case);
  const seed = `${wanted.seed} ${caseKey(wanted.case)}`;
  const deciding = decidingMetrics(suite, wanted.case, wanted.doubts);
  if (deciding.length === 0) return [];
  const known: PairFigures[] = [...(wanted.stored ?? [])];
  const taken: MeasuredPair[] = [];
  const done = () => wanted.from + taken.length;
  const childSource = await placeSource(benchmark, place.cache, child, signal);
  try {
    const parentSource = await placeSource(benchmark, place.cache, parent, signal);
    try {
      const base = { suite, case: wanted.case, place, signal };
      const runChild = () => runOnce("timed", { ...base, artifact: child, source: childSource });
      const runParent = () => runOnce("timed", { ...base, artifact: parent, source: parentSource });
      for (;;) {
        const more = pairsWanted(
          known,
          done(),
          suite,
          deciding,
          (metric) => wanted.noiseOf?.(metric),
          wanted.doubts !== undefined,
        );
        if (more === 0) return taken;
        for (let i = 0; i < more; i++) {
          const parentFirst = isParentFirst(seed, done() + 1);
          const first = await (parentFirst ? runParent() : runChild());
          const second = await (parentFirst ? runChild() : runParent());
          const [ofParent, ofChild] = parentFirst ? [first, second] : [second, first];
          const pair = {
            pair: done() + 1,
            parentFirst,
            child: ofChild.values,
            parent: ofParent.values,
          };
          taken.push(pair);
          known.push(pair);
          await wanted.onPair(pair);
        }
      }
    } finally {
      await parentSource.release();
    }
  } finally {
    await childSource.release();
  }
}

/** Returns the noisy metrics of the section that decide, or those of them in doubt. */
export function decidingMetrics(
  suite: Suite,
  { section }: Pick<TestCase, "section">,
  doubts: readonly { readonly metric: string }[] | undefined,
): string[] {
  return metricsFrom(suite, section, "timed")
    .filter(([, { nature, decides }]) => nature === "noisy" && decides)
    .map(([name]) => name)
    .filter((name) => doubts === undefined || doubts.some(({ metric }) => metric === name));
}

/**
 * Returns how many pairs to measure next; 0: enough. Pure. Pairs with unknown figures (`done` exceeds the known ones)
 * count for the rounds, but are not judged.
 */
export function pairsWanted(
  known: readonly PairFigures[],
  done: number,
  suite: Pick<Suite, "pairs" | "metrics">,
  deciding: readonly string[],
  noiseOf: (metric: string) => number | undefined,
  isRerun = false,
): number {
  const { rounds } = suite.pairs;
  const last = Math.max(...rounds);
  if (done >= last) return 0;
  const next = Math.min(...rounds.filter((round) => round > done)) - done;
  if (!rounds.includes(done)) return next;
  const isClear = deciding.every((metric) => {
    const figures = known.flatMap(({ child, parent, parentFirst }) => {
      const [ofChild, ofParent] = [child[metric], parent[metric]];
      return ofChild === undefined || ofParent === undefined
        ? []
        : [{ child: ofChild, parent: ofParent, parentFirst }];
    });
    // No program reports this metric, and more pairs would not change that.
    if (figures.length === 0) return known.length > 0;
    const better = suite.metrics[metric]?.better ?? "lower";
    const limit = practicalLimit(noiseOf(metric));
    return judgePairs(figures, { limit, rounds, better, isRerun }).more === 0;
  });
  return isClear ? 0 : next;
}
