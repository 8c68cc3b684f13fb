import type { CacheTool } from "#api/tool-cache.ts";
import type { CacheUse } from "./cache-use.ts";

interface CacheCounts {
  hits: number;
  misses: number;
  writes: number;
}

export interface CountedCache extends Readonly<CacheCounts> {
  readonly project: string;
  readonly tool: CacheTool;
}

/** Any caller may read under any project name: above this number, new names are not counted. */
const mostCaches = 1_000;

/** Counts the results of requests since this server started, by project and tool. */
export interface CacheCounter {
  count(project: string, tool: CacheTool, what: keyof CacheCounts): void;
  all(): CountedCache[];
}

/** @param use also gets each hit and miss */
export function cacheCounter(use?: Pick<CacheUse, "count">): CacheCounter {
  const counts = new Map<string, CountedCache & CacheCounts>();
  return {
    count(project, tool, what) {
      if (what !== "writes") use?.count(project, tool, what === "hits");
      const key = `${tool}/${project}`;
      const known = counts.get(key);
      if (known !== undefined) known[what]++;
      else if (counts.size < mostCaches) {
        counts.set(key, { project, tool, hits: 0, misses: 0, writes: 0, [what]: 1 });
      }
    },
    all: () => [...counts.values()].map((each) => ({ ...each })),
  };
}
