import type { Graph, Run } from "#api/graph.ts";
import type { ApiClient } from "../api/api-client.ts";
import { printableLine } from "../terminal/printable-text.ts";

/** More than these are listed by the graph's page. */
const mostExplained = 5;

/** Why jobs of a graph failed, where their runs say it: a rule that was not met, a class of failures. */
export async function failureLines(
  api: Pick<ApiClient, "job">,
  graph: Pick<Graph, "id" | "jobList">,
): Promise<string[]> {
  const failed = graph.jobList.filter((job) => job.state === "failed").slice(0, mostExplained);
  const details = await Promise.all(failed.map((job) => api.job(graph.id, job.name)));
  return details.flatMap(({ job, runList }) => {
    const latest = runList.findLast((run) => run.state === "finished");
    const why = latest === undefined ? "" : whyFailed(latest);
    return why === "" ? [] : [`${job.name}: ${why}`];
  });
}

/** The message already names the class when it was a line of the log that showed it. */
function whyFailed({ failureClass, message }: Run): string {
  const text = printableLine(message ?? "");
  if (failureClass === null || text.startsWith(`${failureClass}:`)) return text;
  return text === "" ? failureClass : `${failureClass}: ${text}`;
}
