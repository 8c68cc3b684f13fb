import { defaultSettings, type SizeClassSettings } from "#size-classes/settings.ts";
import { type ChooserName, chooserNamed } from "./choosers.ts";
import { type Figures, figuresOf } from "./figures.ts";
import type { Simulated } from "./records.ts";
import { simulate } from "./simulate.ts";
import type { Trace } from "./trace.ts";

/** The cost of all workers together until this time, busy and idle. */
interface CostPoint {
  readonly atMs: number;
  readonly cost: number;
}

/** As many points as a plot can show. */
const points = 100;

/** Results of strategies on the same trace, with the same random events. */
export interface Comparison {
  readonly trace: string;
  readonly seed: number;
  readonly executions: number;
  /** The number of executions that were measured only on one CPU: they are assumed to be no faster on several CPUs. */
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
  const settings = { ...defaultSettings, ...changes };
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

function costOverTime(trace: Trace, { workers }: Simulated): CostPoint[] {
  const first = trace.executions[0]?.at ?? 0;
  const last = workers.reduce((latest, { until }) => Math.max(latest, until), first);
  return Array.from({ length: points + 1 }, (_, i) => {
    const at = first + ((last - first) * i) / points;
    const cost = workers.reduce((sum, { classIndex, since, until }) => {
      const price = trace.header.classes[classIndex]?.price ?? 0;
      return sum + (price * Math.max(0, Math.min(at, until) - since)) / 1000;
    }, 0);
    return { atMs: Math.round(at - first), cost };
  });
}
