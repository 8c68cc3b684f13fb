import { coordSimplex, decrossTwoLayer, graph, layeringSimplex, sugiyama } from "d3-dag";
import { type Drawing, type Layout, layerGap, rowGap } from "./layers.ts";

/** Few crossings, short edges, edges around boxes: Sugiyama's method as implemented by d3-dag. For small graphs. */
export function layOutCarefully(drawing: Drawing): Layout {
  const dag = graph<number, number>();
  const nodes = drawing.sizes.map((_, index) => dag.node(index));
  for (const [index, [from, to]] of drawing.edges.entries()) {
    const source = nodes[from];
    const target = nodes[to];
    if (source !== undefined && target !== undefined) dag.link(source, target, index);
  }
  // d3-dag lays out from top to bottom: its x is the y of this drawing.
  const size = sugiyama()
    .layering(layeringSimplex())
    .decross(decrossTwoLayer())
    .coord(coordSimplex())
    .nodeSize(({ data }: { data: number }): readonly [number, number] => {
      const box = drawing.sizes[data];
      return [box?.height ?? 0, box?.width ?? 0];
    })
    .gap([rowGap, layerGap])(dag);

  const routes: number[][] = drawing.edges.map(() => []);
  for (const link of dag.links())
    routes[link.data] = link.points.flatMap(([down, across]) => [across, down]);
  return {
    x: nodes.map((node) => node.y),
    y: nodes.map((node) => node.x),
    routes,
    width: size.height,
    height: size.width,
  };
}
