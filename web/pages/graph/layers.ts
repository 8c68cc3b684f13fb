/** The input of a layout: sizes by index, and edges from the awaited box to the waiting one. */
export interface Drawing {
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  readonly edges: readonly (readonly [from: number, to: number])[];
}

/** The result of a layout: centres by index; for each edge the points on its way, as alternating x and y. */
export interface Layout {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly routes: readonly (readonly number[])[];
  readonly width: number;
  readonly height: number;
}

export const layerGap = 64;
export const rowGap = 10;

export function neighbours(drawing: Drawing): { before: number[][]; after: number[][] } {
  const before: number[][] = drawing.sizes.map(() => []);
  const after: number[][] = drawing.sizes.map(() => []);
  for (const [from, to] of drawing.edges) {
    before[to]?.push(from);
    after[from]?.push(to);
  }
  return { before, after };
}

/**
 * Returns the layer of each box: one more than the deepest that it waits for. A cycle, which no graph has, would stay
 * in layer 0.
 */
export function layersOf(drawing: Drawing): number[] {
  const { before, after } = neighbours(drawing);
  const layer = drawing.sizes.map(() => 0);
  const open = before.map((each) => each.length);
  const ready = [...open.keys()].filter((index) => open[index] === 0);
  for (let at = 0; at < ready.length; at++) {
    const from = ready[at] ?? 0;
    for (const to of after[from] ?? []) {
      layer[to] = Math.max(layer[to] ?? 0, (layer[from] ?? 0) + 1);
      open[to] = (open[to] ?? 0) - 1;
      if (open[to] === 0) ready.push(to);
    }
  }
  return layer;
}
