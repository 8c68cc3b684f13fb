import type { Graph, Run } from "#api/graph.ts";
import type { ApiClient } from "../api/api-client.ts";
import { printableLine } from "../terminal/printable-text.ts";

/** Further ones are on the graph's page. */
const mostExplained = 5;

/** Explains why jobs of a graph failed, if their runs contain a reason: an unmet rule, or a class of failures. */
export async function failureLines(
  api: Pick<ApiClient, "job">,
  graph: Pick<Graph, "id" | "jobList">,
): Promise<string[]> {
  const failed = graph.jobList.filter((job) => job.state === "failed").slice(0, mostExplained);
  const details = await Promise.all(failed.map((job) => api.job(graph.id, job.name)));
  return details.flatMap(({ job, runList }) => {
    const latest = runList.find((run) => run.state === "finished");
    const why = latest === undefined ? "" : whyFailed(latest);
    return why === "" ? [] : [`${job.name}: ${why}`];
  });
}

/** The message already names the class when a line of the log showed it. */
function whyFailed({ failureClass, message }: Run): string {
  const text = printableLine(message ?? "");
  if (failureClass === null || text.startsWith(`${failureClass}:`)) return text;
  return text === "" ? failureClass : `${failureClass}: ${text}`;
}
