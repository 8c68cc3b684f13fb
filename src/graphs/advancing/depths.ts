import type { PlannedEdge } from "../plan.ts";

/** The longest way to each job from one that waits for nothing, in edges. The edges have no cycle. */
export function depthsOf(
  names: Iterable<string>,
  edges: readonly Pick<PlannedEdge, "job" | "on">[],
): Map<string, number> {
  const waitsFor = new Map<string, number>();
  const waiting = new Map<string, string[]>();
  for (const { job, on } of edges) {
    waitsFor.set(job, (waitsFor.get(job) ?? 0) + 1);
    const others = waiting.get(on) ?? [];
    waiting.set(on, others);
    others.push(job);
  }
  const depths = new Map([...names].map((name) => [name, 0]));
  const free = [...depths.keys()].filter((name) => !waitsFor.has(name));
  // The loop also visits elements that are added during iteration.
  for (const name of free) {
    const next = (depths.get(name) ?? 0) + 1;
    for (const job of waiting.get(name) ?? []) {
      depths.set(job, Math.max(depths.get(job) ?? 0, next));
      const left = (waitsFor.get(job) ?? 0) - 1;
      waitsFor.set(job, left);
      if (left === 0) free.push(job);
    }
  }
  return depths;
}
