import type { JobDetail } from "#api/graph.ts";
import type { ApiClient } from "../api/api-client.ts";
import { printableLine } from "../terminal/printable-text.ts";
import type { Outlet } from "../terminal/terminal.ts";
import type { GraphView } from "./graph-view.ts";

/** Longer than a worker of `grange up` needs for its start. */
const lookEveryMs = 5_000;

/**
 * Returns the first job in the queue if no job of the graph runs. A graph whose jobs run makes progress, and the others
 * usually wait for the same workers.
 */
export function jobToExplain(view: GraphView): string | undefined {
  const jobs = [...view.jobs.values()];
  if (jobs.some(({ state }) => state === "running")) return undefined;
  return jobs.find(({ state }) => state === "queued")?.name;
}

/** Returns a line about a job that no worker can run; undefined for all other reasons, which end by themselves. */
function missingWorkerLine({ job, waiting }: JobDetail): string | undefined {
  if (waiting?.kind !== "capacity-none") return undefined;
  const advice = waiting.advice === null ? "" : `. To shorten the wait: ${waiting.advice}`;
  return printableLine(`${job.name} ${waiting.sentence}${advice}`);
}

/**
 * While a graph waits: prints a line about its first job in the queue if no worker can run it, each line once. Without
 * it, a command that waits for the graph would print nothing, for ever.
 */
export function noteMissingWorkers(
  { api, notes }: { readonly api: Pick<ApiClient, "job">; readonly notes: Pick<Outlet, "line"> },
  current: () => GraphView,
): { stop(): void } {
  const printed = new Set<string>();
  let isStopped = false;
  const look = async () => {
    const name = jobToExplain(current());
    if (name === undefined) return;
    const line = missingWorkerLine(await api.job(current().graph.id, name));
    if (line === undefined || printed.has(line) || isStopped) return;
    printed.add(line);
    notes.line(line);
  };
  // A farm that does not answer is reported by the command itself.
  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs);
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
