/**
 * A way through the edges that ends where it began, such as [a, b, a]; undefined when there is none.
 *
 * Depth first and without recursion: a chain of 20,000 jobs is a graph like any other.
 */
export function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  for (const start of edges.keys()) {
    if (done.has(start)) continue;
    const way: string[] = [start];
    const onWay = new Set(way);
    const ahead = [edges.get(start)?.values()];
    while (way.length > 0) {
      const next = ahead.at(-1)?.next();
      if (next === undefined || next.done === true) {
        const left = way.pop() ?? "";
        ahead.pop();
        onWay.delete(left);
        done.add(left);
      } else if (onWay.has(next.value)) {
        return [...way.slice(way.indexOf(next.value)), next.value];
      } else if (!done.has(next.value)) {
        way.push(next.value);
        onWay.add(next.value);
        ahead.push(edges.get(next.value)?.values());
      }
    }
  }
  return undefined;
}
