import type { Tx } from "#db/db.ts";
import type { ReportSource } from "#forge/reports/report-source.ts";
import { placesOf } from "#graphs/catalogs/job-place.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { failedJobs } from "#graphs/graph-page.store.ts";
import { graphSummary, graphVersions } from "#graphs/graph-summary.store.ts";
import { runsOf } from "#graphs/job-detail.store.ts";
import { reportOf, reportVersions } from "#perf/reports/report.store.ts";
import { BenchmarkRequestId } from "#perf/requests/request.store.ts";
import { requestSummaries } from "#perf/requests/request-page.store.ts";

/** The maximum of annotations of a check run: one for each failed job. */
const mostFailed = 50;
/** Further failed jobs are reported only by name. */
const mostNamed = 500;

/** Reads the data for reports to forges. `url` is the address under which people reach the farm. */
export function reportSource(url: string): ReportSource {
  const base = url.replace(/\/+$/, "");
  return {
    async graph(tx, id) {
      const graphId = GraphId.parse(id);
      const graph = await graphSummary(tx, graphId);
      if (graph === undefined) return undefined;
      const page = `${base}/graphs/${id}`;
      const failed = [];
      const jobs = await failedJobs(tx, graphId, mostNamed);
      const shown = jobs.slice(0, mostFailed);
      const places = await placesOf(
        tx,
        graphId,
        shown.map(({ name }) => name),
      );
      for (const job of shown) {
        const [run] = await runsOf(tx, graphId, job.name);
        failed.push({
          job,
          run,
          definedAt: places.get(job.name),
          url: `${page}/jobs/${asPart(job.name)}`,
        });
      }
      return { graph, failed, others: jobs.slice(mostFailed).map(({ name }) => name), url: page };
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

/** Encodes a name for a URL in Markdown, where brackets would end the URL. */
function asPart(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
