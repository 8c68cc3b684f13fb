import type { EnvironmentFacts } from "#api/collector.ts";
import type { ArtifactShelf, PlacedArtifact } from "#artifacts/artifact-shelf.ts";
import type { MetricValues } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import type { Load } from "#measuring/environment/load.ts";
import type { MeasuredIteration, MeasuredPair } from "#measuring/measured-iteration.ts";
import type { Suite } from "#suites/suite.ts";

export interface PairsWanted {
  readonly suite: Suite;
  readonly case: TestCase;
  readonly child: PlacedArtifact;
  readonly parent: PlacedArtifact;
  /** How many are kept already. */
  readonly from: number;
  readonly stored: readonly { readonly child: MetricValues; readonly parent: MetricValues }[];
  readonly doubts?: readonly { readonly metric: string }[];
  readonly onPair: (pair: MeasuredPair) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What a collector does on its machine, apart from deciding: gets artifacts, measures, looks around. */
export interface Workbench {
  facts(): Promise<EnvironmentFacts>;
  /** Ends what is left of measuring that was killed; how many there were. For who holds the machine. */
  endLeftovers(): number;
  load(sampleMs: number, signal: AbortSignal): Promise<Load>;
  readonly place: ArtifactShelf["place"];
  release(placed: PlacedArtifact): Promise<void>;
  measureTest(
    suite: Suite,
    testCase: TestCase,
    artifact: PlacedArtifact,
    signal: AbortSignal,
    /** In place of what the suite says. */
    iterations?: { readonly after: number; readonly count: number },
  ): Promise<MeasuredIteration[]>;
  measurePairs(wanted: PairsWanted): Promise<MeasuredPair[]>;
  close(): Promise<void>;
}
