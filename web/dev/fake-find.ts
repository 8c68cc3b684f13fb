import type { FoundObject, FoundObjects } from "#api/find.ts";
import type { FakeFarm } from "./fake-farm.ts";

/** Answers `GET /find` from the graphs and workers of a made-up farm. */
export function fakeFind(farm: FakeFarm, query: URLSearchParams): FoundObjects {
  const words = (query.get("text") ?? "").toLowerCase().split(/\s+/);
  const limit = Number(query.get("limit") ?? 6);
  const matches = (name: string) => words.every((word) => name.toLowerCase().includes(word));
  const graphs = [...farm.graphs.values()].toSorted((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  );
  const jobs = new Map<string, FoundObject>();
  for (const { id, repository, branch, jobList } of graphs) {
    for (const { name, state } of jobList) {
      if (!matches(`${name} ${repository}`) || jobs.has(`${repository} ${name}`)) continue;
      jobs.set(`${repository} ${name}`, {
        kind: "job",
        graph: id,
        name,
        repository,
        branch,
        state,
      });
    }
  }
  const repositories = [...new Set(graphs.map(({ repository }) => repository))].filter(matches);
  return {
    objects: [
      ...repositories.slice(0, limit).map((name): FoundObject => ({ kind: "repository", name })),
      ...graphs
        .filter(({ subject, branch, commit }) => matches(`${subject} ${branch} ${commit}`))
        .slice(0, limit)
        .map(
          ({ id, repository, branch, commit, subject, state }): FoundObject => ({
            kind: "graph",
            id,
            repository,
            branch,
            commit,
            subject,
            state,
          }),
        ),
      ...[...jobs.values()].slice(0, limit),
      ...farm.workers
        .filter(({ name }) => matches(name))
        .slice(0, limit)
        .map(({ name }): FoundObject => ({ kind: "worker", name })),
    ],
  };
}
