import type { Tx } from "#db/db.ts";
import type { ReportSource } from "#forge/reports/report-source.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { failedJobs } from "#graphs/graph-page.store.ts";
import { graphSummary, graphVersions } from "#graphs/graph-summary.store.ts";
import { runsOf } from "#graphs/job-detail.store.ts";
import { reportOf, reportVersions } from "#perf/reports/report.store.ts";
import { BenchmarkRequestId } from "#perf/requests/request.store.ts";
import { requestSummaries } from "#perf/requests/request-page.store.ts";

/** Who looks at a check run looks at the first few; the graph's page has all. */
const mostFailed = 30;

/** What forges are told of, from the rooms that know it. `url` is where people find the farm. */
export function reportSource(url: string): ReportSource {
  const base = url.replace(/\/+$/, "");
  return {
    async graph(tx, id) {
      const graphId = GraphId.parse(id);
      const graph = await graphSummary(tx, graphId);
      if (graph === undefined) return undefined;
      const page = `${base}/graphs/${id}`;
      const failed = [];
      for (const job of await failedJobs(tx, graphId, mostFailed)) {
        const [run] = await runsOf(tx, graphId, job.name);
        failed.push({
          job,
          run,
          definedAt: undefined,
          url: `${page}/jobs/${asPart(job.name)}`,
        });
      }
      return { graph, failed, url: page };
    },

    async request(tx, id) {
      const [request] = await requestSummaries(tx, [BenchmarkRequestId.parse(id)]);
      if (request === undefined) return undefined;
      const { suite, artifact, state, createdAt, endedAt, errors, jobs } = request;
      return {
        id,
        suite,
        artifact,
        state,
        createdAt: new Date(createdAt),
        endedAt: endedAt === null ? undefined : new Date(endedAt),
        errors: Math.max(errors, jobs.failed),
        report: await reportOf(tx, id),
        url: `${base}/benchmarks/requests/${id}`,
      };
    },

    versions,
  };
}

async function versions(
  tx: Tx,
  subjects: readonly { readonly kind: "graph" | "request"; readonly id: string }[],
): Promise<ReadonlyMap<string, string>> {
  const of = (kind: "graph" | "request") =>
    subjects.filter((subject) => subject.kind === kind).map(({ id }) => id);
  const [graphs, requests] = [of("graph"), of("request")];
  const found = new Map<string, string>();
  if (graphs.length > 0) {
    for (const [id, version] of await graphVersions(tx, graphs)) found.set(id, String(version));
  }
  if (requests.length > 0) {
    for (const [id, version] of await reportVersions(tx, requests)) found.set(id, version);
  }
  return found;
}

/** In an address that Markdown takes for one: brackets would end it. */
function asPart(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
