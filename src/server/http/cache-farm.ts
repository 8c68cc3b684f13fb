import type { ToolCaches } from "#api/tool-cache.ts";

/** What the caches of build tools keep, and how well they do. */
export interface CacheFarm {
  toolCaches(): Promise<ToolCaches>;
}
