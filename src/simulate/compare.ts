import { type SizeClassSettings, usualSettings } from "#size-classes/settings.ts";
import { type ChooserName, chooserNamed } from "./choosers.ts";
import { type CostPoint, costOverTime } from "./cost-over-time.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { simulate } from "./simulate.ts";
import type { Trace } from "./trace.ts";

/** Strategies on the same trace, with the same chances. */
export interface Comparison {
  readonly trace: string;
  readonly seed: number;
  readonly executions: number;
  /** Those that have only been seen on one CPU: they are taken to be no faster on more. */
  readonly seenOnOneCpu: number;
  readonly priceOfDelay: number;
  readonly sizeClasses: readonly number[];
  readonly strategies: readonly (Figures & { readonly costOverTime: readonly CostPoint[] })[];
}

export interface CompareOptions {
  readonly seed: number;
  readonly settings?: Partial<SizeClassSettings>;
}

export function compare(
  trace: Trace,
  names: readonly ChooserName[],
  { seed, settings: changes = {} }: CompareOptions,
): Comparison {
  const settings = { ...usualSettings, ...changes };
  return {
    trace: trace.header.name,
    seed,
    executions: trace.executions.length,
    seenOnOneCpu: trace.executions.filter((each) => each.seenOnOneCpu === true).length,
    priceOfDelay: settings.priceOfDelay,
    sizeClasses: trace.header.classes.map(({ sizeClass }) => sizeClass),
    strategies: names.map((name) => {
      const simulated = simulate(trace, chooserNamed(name, settings), seed);
      return {
        ...figuresOf(trace, simulated, seed, settings.priceOfDelay),
        costOverTime: costOverTime(trace, simulated),
      };
    }),
  };
}
