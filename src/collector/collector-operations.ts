import type { EnvironmentFacts } from "#api/collector.ts";
import type { ArtifactCache, PlacedArtifact } from "#artifacts/artifact-cache.ts";
import type { TestCase } from "#core/test-case.ts";
import type { Load } from "#measuring/environment/load.ts";
import type { MeasuredIteration, MeasuredPair } from "#measuring/measured-iteration.ts";
import type { Suite } from "#suites/suite.ts";

export interface PairsWanted {
  readonly suite: Suite;
  readonly case: TestCase;
  readonly child: PlacedArtifact;
  readonly parent: PlacedArtifact;
  /** The number of pairs that already exist. */
  readonly from: number;
  readonly stored: readonly Omit<MeasuredPair, "pair">[];
  /** The seed of the order within pairs: see `measurePairs`. */
  readonly seed: string;
  readonly doubts?: readonly { readonly metric: string }[];
  readonly onPair: (pair: MeasuredPair) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * The iterations to run, numbered from `after` + 1: how many processes run under the counter, and how many with the
 * clock.
 */
export interface IterationsWanted {
  readonly after: number;
  readonly counted: number;
  readonly timed: number;
}

/** The actions of a collector on its machine, without decisions: fetching artifacts, measuring, observing. */
export interface CollectorOperations {
  facts(): Promise<EnvironmentFacts>;
  /** Ends leftovers of killed measurements; returns how many. The caller holds the measuring lock. */
  endLeftovers(): number;
  load(sampleMs: number, signal: AbortSignal): Promise<Load>;
  readonly place: ArtifactCache["place"];
  release(placed: PlacedArtifact): Promise<void>;
  measureTest(
    suite: Suite,
    testCase: TestCase,
    artifact: PlacedArtifact,
    signal: AbortSignal,
    /** Overrides the suite's values. */
    iterations?: IterationsWanted,
  ): Promise<MeasuredIteration[]>;
  measurePairs(wanted: PairsWanted): Promise<MeasuredPair[]>;
  close(): Promise<void>;
}
