import type { GraphSummary, Repository } from "#api/graph.ts";

/**
 * The repositories after a graph changed. Undefined when only the server can tell:
 * it is a repository that was not known, or a graph that may be a new one.
 */
export function mergeRepository(
  known: Repository[],
  heard: GraphSummary,
): Repository[] | undefined {
  const at = known.findIndex((repository) => repository.name === heard.repository);
  const repository = known[at];
  if (repository === undefined || repository.latest === null) return undefined;
  if (repository.latest.id !== heard.id) {
    return heard.createdAt > repository.latest.createdAt ? undefined : known;
  }
  return heard.version > repository.latest.version
    ? known.with(at, { ...repository, latest: heard })
    : known;
}
