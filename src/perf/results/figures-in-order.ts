import type { MetricValues } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";

/** Returns values by metrics' names in the form of a row: in the order of their numbers, null for a missing one. */
export function figuresInOrder(
  values: MetricValues,
  ordinals: ReadonlyMap<string, number>,
): (number | null)[] {
  const row: (number | null)[] = [];
  for (const [name, value] of Object.entries(values)) {
    const ordinal = ordinals.get(name);
    if (ordinal === undefined)
      throw new Fault(
        "invalid_argument",
        `the suite has no metric "${name}"; push its definition first`,
      );
    if (!Number.isFinite(value) || value < 0)
      throw new Fault(
        "invalid_argument",
        `the value of ${name} is ${value}; it must be a number of at least 0`,
      );
    while (row.length < ordinal) row.push(null);
    row[ordinal - 1] = value;
  }
  return row;
}
