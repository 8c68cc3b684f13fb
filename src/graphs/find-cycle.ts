/**
 * Returns a cycle of edges, such as [a, b, a]; undefined when there is none.
 *
 * Depth first and without recursion, because a graph may be a chain of 20,000 jobs.
 */
export function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  for (const [start, needs] of edges) {
    if (done.has(start)) continue;
    // Most jobs need only jobs that were visited before.
    if (needs.every((need) => done.has(need))) {
      done.add(start);
      continue;
    }
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
