import { type Drawing, type Layout, layerGap, layersOf, neighbours, rowGap } from "./layers.ts";

const sweeps = 6;

/**
 * A layered layout, from left to right, in time linear in the edges (except for sorting).
 *
 * Each layer is ordered by the positions of its neighbours, forward and backward a few times; then each box is placed
 * as near to its neighbours as the order allows. Edges are straight lines from box to box: in large graphs nothing more
 * is readable.
 */
export function layOutFast(drawing: Drawing): Layout {
  const layer = layersOf(drawing);
  const { before, after } = neighbours(drawing);
  const count = Math.max(-1, ...layer) + 1;
  const layers: number[][] = Array.from({ length: count }, () => []);
  for (const [index, at] of layer.entries()) layers[at]?.push(index);

  const height = (index: number) => drawing.sizes[index]?.height ?? 0;
  const y: number[] = drawing.sizes.map(() => 0);
  for (const members of layers) stack(members, y, height);

  for (let sweep = 0; sweep < sweeps; sweep++) {
    const forth = sweep % 2 === 0;
    const sides = forth ? before : after;
    for (const members of forth ? layers : layers.toReversed()) {
      const goal = new Map(
        members.map((index) => [index, mean(sides[index] ?? [], y) ?? y[index] ?? 0]),
      );
      members.sort((a, b) => (goal.get(a) ?? 0) - (goal.get(b) ?? 0));
      place(
        members,
        members.map((index) => goal.get(index) ?? 0),
        y,
        height,
      );
    }
  }

  const top = Math.min(0, ...y.map((at, index) => at - height(index) / 2));
  const shifted = y.map((at) => at - top);
  const widths = layers.map((members) =>
    Math.max(0, ...members.map((index) => drawing.sizes[index]?.width ?? 0)),
  );
  const lefts: number[] = [];
  let right = 0;
  for (const width of widths) {
    lefts.push(right);
    right += width + layerGap;
  }
  const x = layer.map((at) => (lefts[at] ?? 0) + (widths[at] ?? 0) / 2);
  return {
    x,
    y: shifted,
    routes: drawing.edges.map(([from, to]) => [
      x[from] ?? 0,
      shifted[from] ?? 0,
      x[to] ?? 0,
      shifted[to] ?? 0,
    ]),
    width: Math.max(0, right - layerGap),
    height: Math.max(0, ...shifted.map((at, index) => at + height(index) / 2)),
  };
}

function stack(members: readonly number[], y: number[], height: (index: number) => number): void {
  let at = 0;
  for (const index of members) {
    y[index] = at + height(index) / 2;
    at += height(index) + rowGap;
  }
}

function mean(of: readonly number[], y: readonly number[]): number | undefined {
  if (of.length === 0) return undefined;
  return of.reduce((sum, index) => sum + (y[index] ?? 0), 0) / of.length;
}

/**
 * Returns the positions nearest to the wanted ones (least squares) at which boxes in this order do not touch: without
 * the boxes' sizes this is isotonic regression, which pooling adjacent violators solves in linear time (Ayer et al.,
 * 1955).
 */
function place(
  members: readonly number[],
  wanted: readonly number[],
  y: number[],
  height: (index: number) => number,
): void {
  const offsets: number[] = [];
  let offset = 0;
  for (const [at, index] of members.entries()) {
    if (at > 0) offset += height(members[at - 1] ?? 0) / 2 + rowGap + height(index) / 2;
    offsets.push(offset);
  }
  const pools: { sum: number; size: number }[] = [];
  for (const [at, goal] of wanted.entries()) {
    let pool = { sum: goal - (offsets[at] ?? 0), size: 1 };
    for (
      let last = pools.at(-1);
      last !== undefined && last.sum / last.size >= pool.sum / pool.size;
      last = pools.at(-1)
    ) {
      pool = { sum: last.sum + pool.sum, size: last.size + pool.size };
      pools.pop();
    }
    pools.push(pool);
  }
  let at = 0;
  for (const pool of pools) {
    for (let n = 0; n < pool.size; n++, at++)
      y[members[at] ?? 0] = pool.sum / pool.size + (offsets[at] ?? 0);
  }
}
