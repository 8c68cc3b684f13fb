import type { Samples } from "../row.ts";

/** One measured value of one server in one round. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  readonly value: number;
}

/** A quantity that was measured on several servers. */
export interface Quantity {
  readonly what: string;
  readonly unit: string;
  readonly better: Figure["better"];
  readonly sides: readonly Samples[];
}

/**
 * Returns the servers in the order of a round.
 *
 * Each is the first in turn, because the next one finds caches and disks as its predecessor left them.
 */
export function turnsOf<T>(servers: readonly T[], round: number): readonly T[] {
  const first = servers.length === 0 ? 0 : round % servers.length;
  return [...servers.slice(first), ...servers.slice(0, first)];
}

/** Returns the figures of all rounds by quantity, in the order in which the quantities were first measured. */
export function quantitiesOf(
  measured: readonly { readonly server: string; readonly figures: readonly Figure[] }[],
): Quantity[] {
  const byWhat = new Map<string, { first: Figure; samples: Map<string, number[]> }>();
  for (const { server, figures } of measured) {
    for (const figure of figures) {
      const quantity = byWhat.get(figure.what) ?? { first: figure, samples: new Map() };
      byWhat.set(figure.what, quantity);
      const samples = quantity.samples.get(server) ?? [];
      quantity.samples.set(server, [...samples, figure.value]);
    }
  }
  return [...byWhat].map(([what, { first, samples }]) => ({
    what,
    unit: first.unit,
    better: first.better,
    sides: [...samples].map(([name, values]) => ({ name, samples: values })),
  }));
}

/** Prints on standard error how far a measurement of minutes is. */
export function printTurn(round: number, rounds: number, server: string): void {
  process.stderr.write(`  round ${round + 1} of ${rounds}: ${server}\n`);
}
