import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import type { Component } from "#artifacts/component.ts";
import type { MetricValues } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import type { Load } from "#measuring/environment/load.ts";
import type { MeasuredIteration, MeasuredPair } from "#measuring/measured-iteration.ts";
import type { Suite } from "#suites/suite.ts";
import type { CollectorOperations, IterationsWanted, PairsWanted } from "./collector-operations.ts";

/** A machine whose measurements a test defines. */
export class FakeBench implements CollectorOperations {
  readonly begun: string[] = [];
  readonly measured: string[] = [];
  readonly pairs: { readonly benchmark: string; readonly pair: number }[] = [];
  readonly places: Component[] = [];
  /** Tests during which the job or the process was aborted. */
  readonly killed: string[] = [];
  released = 0;
  environment: Record<string, string> = { cpu: "one" };
  busy: Load = { others: 0, stolen: 0, averagePerCpu: 0 };
  /** Awaited in the middle of each test; may throw. */
  during: (benchmark: string) => Promise<void> | void = () => {};
  placing: () => Promise<void> | void = () => {};
  pairsWanted = 3;
  /** Returns further figures of the nth iteration of a test. */
  values: (nth: number) => MetricValues = () => ({});

  async facts(): Promise<Record<string, string>> {
    return this.environment;
  }

  endLeftovers(): number {
    return 0;
  }

  async load(): Promise<Load> {
    return this.busy;
  }

  async place(
    _suite: Suite,
    _backend: string,
    component: Component,
    signal: AbortSignal,
  ): Promise<PlacedArtifact> {
    this.places.push(component);
    await this.placing();
    signal.throwIfAborted();
    return { directory: "/artifact", tool: ["tool"], env: {} };
  }

  async release(): Promise<void> {
    this.released += 1;
  }

  async measureTest(
    _suite: Suite,
    { benchmark }: TestCase,
    _artifact: PlacedArtifact,
    signal: AbortSignal,
    { after, counted, timed }: IterationsWanted = { after: 0, counted: 1, timed: 1 },
  ): Promise<MeasuredIteration[]> {
    await this.#work(benchmark, signal);
    this.measured.push(benchmark);
    return Array.from({ length: Math.max(counted, timed) }, (_, i) => ({
      iteration: after + i + 1,
      values: { wall: 1, ...this.values(i) },
      warnings: [],
    }));
  }

  async measurePairs({
    case: { benchmark },
    from,
    onPair,
    signal,
  }: PairsWanted): Promise<MeasuredPair[]> {
    const taken: MeasuredPair[] = [];
    for (let pair = from + 1; pair <= this.pairsWanted; pair++) {
      await this.#work(benchmark, signal);
      this.pairs.push({ benchmark, pair });
      const measured = { pair, parentFirst: false, child: { wall: 1 }, parent: { wall: 1 } };
      taken.push(measured);
      await onPair(measured);
    }
    return taken;
  }

  async close(): Promise<void> {}

  async #work(benchmark: string, signal: AbortSignal): Promise<void> {
    const given = new Promise<never>((_resolve, reject) => {
      const end = () => reject(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });
    given.catch(() => {});
    this.begun.push(benchmark);
    try {
      await Promise.race([this.during(benchmark), given]);
    } catch (reason) {
      if (signal.aborted) this.killed.push(benchmark);
      throw reason;
    }
  }
}
