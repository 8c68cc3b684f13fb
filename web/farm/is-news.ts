import type { GraphSummary } from "#api/graph.ts";

/**
 * Whether a graph of the stream changes a list of graphs. When it connects, the stream sends the newest graphs, most of
 * which the page has just loaded.
 *
 * @param list the loaded graphs, the newest first
 */
export function isNews(list: readonly GraphSummary[], heard: GraphSummary): boolean {
  const known = list.find(({ id }) => id === heard.id);
  if (known !== undefined) return heard.version > known.version;
  const oldest = list.at(-1);
  return oldest === undefined || heard.createdAt >= oldest.createdAt;
}
