import { messageOf } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
import { batchToShow } from "../batch-to-show.ts";
import { logAddressesOfRun } from "../log-addresses.ts";
import { chosenLines } from "../log-lines.ts";
import { printableLog } from "../terminal/printable-text.ts";
import type { GraphView } from "./graph-view.ts";
import { networkHint } from "./network-hint.ts";

/** More would hide the result of the graph. */
const mostLogs = 3;

/** Build tools print their summary last: Maven and Gradle need about 25 lines for it. */
const linesOfEach = 30;

/**
 * Returns the end of the log of each failed job, and a hint where one is known.
 *
 * For a farm that stops with this command: `grange logs` cannot ask it later.
 */
export async function failedLogLines(
  api: Pick<ApiClient, "job" | "logAt" | "get">,
  { graph, jobs }: GraphView,
): Promise<string[]> {
  const failed = [...jobs.values()].filter((job) => job.state === "failed");
  const lines: string[] = [];
  for (const { name } of failed.slice(0, mostLogs)) {
    const end = await endOfLog(api, graph.id, name).catch((reason: unknown) => [
      `The log could not be read: ${messageOf(reason)}`,
    ]);
    lines.push(`--- end of the log of ${name} ---`, ...end);
  }
  if (failed.length > 0) {
    lines.push(
      "To see whole logs, run this again without --once: jobs that succeeded come from the cache.",
    );
  }
  return lines;
}

async function endOfLog(
  api: Pick<ApiClient, "job" | "logAt" | "get">,
  graph: string,
  job: string,
): Promise<string[]> {
  const detail = await api.job(graph, job);
  const run = detail.runList.length;
  if (run === 0) return [];
  const batch = batchToShow(detail, run);
  const address = { graph, job, run, ...(batch === undefined ? {} : { batch }) };
  const parts: Uint8Array[] = [];
  const chosen = { kind: "tail", count: linesOfEach } as const;
  for await (const part of chosenLines(api, await logAddressesOfRun(address), chosen)) {
    parts.push(part);
  }
  const text = printableLog(Buffer.concat(parts).toString("utf8")).trimEnd();
  const hint = networkHint(job, detail.definition, text);
  return [...text.split("\n"), ...(hint === undefined ? [] : [hint])];
}
