import type { CacheTool } from "#api/tool-cache.ts";

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

export function cacheCounter(): CacheCounter {
  const counts = new Map<string, CountedCache & CacheCounts>();
  return {
    count(project, tool, what) {
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
