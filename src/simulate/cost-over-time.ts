import type { Simulated } from "./records.ts";
import type { Trace } from "./trace.ts";

/** What all workers together have cost until then, busy and idle. */
export interface CostPoint {
  readonly atMs: number;
  readonly cost: number;
}

/** As fine as a plot shows. */
const points = 100;

export function costOverTime(trace: Trace, { workers }: Simulated): CostPoint[] {
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
