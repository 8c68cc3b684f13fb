import type { JobTrends } from "#api/job-trends.ts";
import type { FakeFarm } from "./fake-farm.ts";

const weekMs = 7 * 24 * 3_600_000;

/** Answers made-up trends of the jobs of the newest graph of a repository. */
export function fakeTrends(farm: FakeFarm, now: Date, query: URLSearchParams): JobTrends {
  const repository = query.get("repository") ?? "";
  const by = query.get("by") === "graph" ? "graph" : "week";
  const last = Number(query.get("last") ?? 12);
  const text = query.get("text") ?? "";
  const graphs = [...farm.graphs.values()].filter((graph) => graph.repository === repository);
  const names = [...new Set(graphs.flatMap(({ jobList }) => jobList.map(({ name }) => name)))];
  const buckets = Array.from({ length: last }, (_, n) => ({
    at: new Date(now.getTime() - (last - n) * weekMs).toISOString(),
    graph:
      by === "graph" ? { id: graphs[0]?.id ?? "", commit: n.toString(16).padStart(40, "0") } : null,
  }));
  return {
    repository,
    by,
    buckets,
    jobs: names
      .filter((name) => name.includes(text))
      .slice(0, 50)
      .map((name, at) => {
        const points = buckets.flatMap((_, bucket) =>
          (bucket + at) % 5 === 4
            ? []
            : [
                {
                  bucket,
                  runs: 20,
                  failures: (bucket * (at + 1)) % 7 === 3 ? 1 + at : 0,
                  medianMs: 20_000 * (1 + at) + 900 * bucket * at,
                },
              ],
        );
        const failures = points.reduce((sum, point) => sum + point.failures, 0);
        return { name, runs: 20 * points.length, failures, medianMs: 20_000 * (1 + at), points };
      })
      .toSorted((a, b) => b.failures - a.failures),
    isCut: false,
  };
}
