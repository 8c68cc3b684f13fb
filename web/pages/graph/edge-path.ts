/**
 * Returns a smooth line through a route's points, horizontal at both ends.
 *
 * `half` is half a box's width: routes go from centre to centre, lines from edge to edge.
 */
export function edgePath(route: readonly number[], half: number): string {
  const points: { x: number; y: number }[] = [];
  for (let at = 0; at + 1 < route.length; at += 2)
    points.push({ x: route[at] ?? 0, y: route[at + 1] ?? 0 });
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "";
  first.x += half;
  last.x -= half;

  let path = `M${round(first.x)} ${round(first.y)}`;
  let from = first;
  for (const [index, to] of points.slice(1).entries()) {
    // Between its ends a line crosses whole layers: horizontal along a box's width, so that it does not cut a corner.
    const inner = index < points.length - 2;
    const near = inner ? to.x - half : to.x;
    const middle = (from.x + near) / 2;
    path += `C${round(middle)} ${round(from.y)} ${round(middle)} ${round(to.y)} ${round(near)} ${round(to.y)}`;
    if (inner) path += `H${round(to.x + half)}`;
    from = inner ? { x: to.x + half, y: to.y } : to;
  }
  return path;
}

const round = (value: number) => Math.round(value * 10) / 10;
