import type { ToolCache } from "#api/tool-cache.ts";
import type { CountedCache } from "./cache-counts.ts";
import type { CacheTotals } from "./cache-entry.store.ts";

/** Returns caches with entries, and caches that only got requests, ordered by name. */
export function listCaches(
  totals: readonly CacheTotals[],
  counted: readonly CountedCache[],
): ToolCache[] {
  const all = new Map<string, ToolCache>();
  const nameOf = ({ project, tool }: Pick<ToolCache, "project" | "tool">) => `${project} ${tool}`;
  for (const { lastUsedAt, ...kept } of totals) {
    const cache = { ...kept, hits: 0, misses: 0, writes: 0, lastUsedAt: lastUsedAt.toISOString() };
    all.set(nameOf(cache), cache);
  }
  for (const each of counted) {
    const kept = all.get(nameOf(each)) ?? { entries: 0, bytes: 0, lastUsedAt: null };
    all.set(nameOf(each), { ...kept, ...each });
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cache]) => cache);
}
