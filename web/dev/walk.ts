import type { JobSummary } from "#api/graph.ts";
import type { FakeFarm } from "./fake-farm.ts";

/** Simulates progress of a graph: its running jobs write logs, end, and let others start. */
export function walk(farm: FakeFarm, id: string, everyMs: number): () => void {
  let step = 0;
  const timer = setInterval(() => {
    step += 1;
    const graph = farm.graphs.get(id);
    if (graph === undefined || graph.state !== "running") return;
    const now = new Date().toISOString();
    const running = graph.jobList.filter((job) => job.state === "running");
    for (const job of running) {
      farm.append(
        id,
        job.name,
        1,
        `\u001b[2m${now}\u001b[0m step \u001b[36m${step}\u001b[0m of ${job.name}\n`,
      );
    }
    if (step % 4 !== 0) return;
    const done = new Set(
      graph.jobList.filter((job) => job.state === "succeeded").map((job) => job.name),
    );
    const patches: Record<string, Partial<JobSummary>> = {};
    const [oldest] = running;
    if (oldest !== undefined) patches[oldest.name] = { state: "succeeded", finishedAt: now };
    for (const job of graph.jobList) {
      const met = graph.edges
        .filter((edge) => edge.job === job.name)
        .every((edge) => done.has(edge.on));
      if (job.state === "queued" || job.state === "ready") {
        patches[job.name] = { state: "running", startedAt: now, runs: 1, reason: null };
      } else if (job.state === "blocked" && met) {
        patches[job.name] = { state: "queued", readyAt: now, reason: "waits for a worker" };
      }
    }
    farm.change(id, patches);
  }, everyMs);
  return () => clearInterval(timer);
}
