import type { CommitGrid, GridCell } from "#api/commit-grid.ts";
import { byAttention } from "#api/job-state-order.ts";
import { type FakeFarm, summaryOf } from "./fake-farm.ts";

/** Answers the grid of a repository: one cell for each job, or for each start of a name in large graphs. */
export function fakeCommitGrid(farm: FakeFarm, query: URLSearchParams): CommitGrid {
  const limit = Number(query.get("limit") ?? 30);
  const state = query.get("state");
  const text = (query.get("text") ?? "").toLowerCase();
  const author = (query.get("author") ?? "").toLowerCase();
  const branch = query.get("branch");
  const graphs = [...farm.graphs.values()]
    .filter((graph) => graph.repository === query.get("repository"))
    .filter((graph) => state === null || graph.state === state)
    .filter((graph) => branch === null || graph.branch === branch)
    .filter((graph) => graph.subject.toLowerCase().includes(text))
    // In the made-up farm a commit changes what its subject names.
    .filter((graph) =>
      graph.subject.toLowerCase().includes((query.get("path") ?? "").toLowerCase()),
    )
    .filter((graph) => graph.author.toLowerCase().includes(author))
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  const from = graphs.findIndex(({ id }) => id === query.get("before")) + 1;
  const page = graphs.slice(from, from + limit);
  const isByKind =
    query.get("columns") === "kind" || page.some(({ jobList }) => jobList.length > 40);
  const rows = page.map((graph) => {
    const cells = new Map<string, GridCell>();
    const jobs = graph.jobList.toSorted(
      (a, b) => byAttention.indexOf(a.state) - byAttention.indexOf(b.state),
    );
    for (const job of jobs) {
      const column = isByKind ? (job.name.split("/")[0] ?? "") : job.name;
      const failed = Number(job.state === "failed");
      const known = cells.get(column);
      cells.set(
        column,
        known === undefined
          ? { column, state: job.state, job: job.name, jobs: 1, failed, failure: job.reason }
          : { ...known, jobs: known.jobs + 1, failed: known.failed + failed },
      );
    }
    return { graph: summaryOf(graph), cells: [...cells.values()] };
  });
  return {
    columns: isByKind ? "kind" : "job",
    rows,
    before: from + limit < graphs.length ? (page.at(-1)?.id ?? null) : null,
  };
}
