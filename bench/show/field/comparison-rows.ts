import { quantile } from "../quantile.ts";
import { atLeast, atMost, forInformation, type Row, type Samples } from "../row.ts";
import type { Quantity } from "./by-turns.ts";
import type { Absent } from "./peers.ts";

/** Which ratio a comparison must reach: at least when more is better, at most when less is better. */
type Goal = { readonly kind: "ratio"; readonly limit: number } | { readonly kind: "information" };

/**
 * Returns one row for each peer: the median of the ratios of the rounds, our value divided by the peer's.
 *
 * A ratio is taken within a round, so that a load that lasts longer than a round changes both of its values.
 */
export function comparisonRows(
  { what, unit, better, sides }: Quantity,
  ours: string,
  goal: Goal,
  how: string,
): Row[] {
  const own = sides.find(({ name }) => name === ours);
  if (own === undefined) return [];
  return sides
    .filter((side) => side !== own)
    .map((peer) => {
      const ratios = ratiosOf(own, peer);
      const figure = quantile(ratios, 0.5);
      const text = `median of ${ratios.length} rounds by turns, ratios ${rangeOf(ratios)}; ${valuesOf(own)}, ${valuesOf(peer)} ${unit}; ${how}`;
      const name = `${what}: Grange beside ${peer.name}`;
      const row =
        goal.kind === "information"
          ? forInformation(name, figure, "×", text)
          : better === "higher"
            ? atLeast(name, figure, goal.limit, "×", text)
            : atMost(name, figure, goal.limit, "×", text);
      return { ...row, compared: { what, unit, better, ours: own, peer } };
    });
}

/** Returns the row of a peer that is not on this machine. It does not hold: nothing was measured. */
export function absentRow(what: string, { absent }: Absent): Row {
  return { name: what, figure: null, unit: "", goal: "measured", holds: false, how: absent };
}

function ratiosOf(own: Samples, peer: Samples): number[] {
  return own.samples.flatMap((value, round) => {
    const theirs = peer.samples[round];
    return theirs === undefined ? [] : [value / theirs];
  });
}

function valuesOf({ name, samples }: Samples): string {
  return `${name} ${short(quantile(samples, 0.5))} (${rangeOf(samples)})`;
}

/** Returns the least and the greatest value as text. */
export function rangeOf(samples: readonly number[]): string {
  return `${short(Math.min(...samples))} to ${short(Math.max(...samples))}`;
}

/** Returns a number with three significant digits. */
export function short(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
