import { layOutCarefully } from "./lay-out-carefully.ts";
import { layOutFast } from "./lay-out-fast.ts";
import { type Drawing, type Layout, layersOf } from "./layers.ts";

/** Measured on two cores: 400 took 0.1–0.3 s, 2,000 took 5 s. */
const mostForCare = 400;

export function layOut(drawing: Drawing): Layout {
  return careCost(drawing) <= mostForCare ? layOutCarefully(drawing) : layOutFast(drawing);
}

/**
 * Returns the size of the problem for Sugiyama's method: the boxes, and a dummy for each layer that an edge crosses.
 */
function careCost(drawing: Drawing): number {
  const layer = layersOf(drawing);
  return drawing.edges.reduce(
    (sum, [from, to]) => sum + Math.max(0, (layer[to] ?? 0) - (layer[from] ?? 0) - 1),
    drawing.sizes.length,
  );
}
