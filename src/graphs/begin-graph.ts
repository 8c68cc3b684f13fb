import { type AdvancingEdge, type AdvancingJob, advanceGraph } from "./advance-graph.ts";
import type { Plan } from "./plan.ts";

/** A plan's jobs and edges as they stand when nothing has run: those that wait for nothing are ready. */
export async function beginGraph(
  plan: Plan,
): Promise<{ readonly jobs: AdvancingJob[]; readonly edges: AdvancingEdge[] }> {
  const waitsFor = new Map<string, number>();
  for (const { job } of plan.edges) waitsFor.set(job, (waitsFor.get(job) ?? 0) + 1);
  const jobs = new Map(
    plan.catalog.entries.map(({ name, definition }): [string, AdvancingJob] => [
      name,
      {
        name,
        kind: definition.kind ?? "command",
        wanted: "first",
        latestRun: undefined,
        openEdges: waitsFor.get(name) ?? 0,
        failedEdges: 0,
        state: "blocked",
        reason: null,
      },
    ]),
  );
  const edges = plan.edges.map((edge): AdvancingEdge => ({ ...edge, status: "open" }));
  const edgesOn = new Map<string, AdvancingEdge[]>();
  for (const edge of edges) {
    const siblings = edgesOn.get(edge.on) ?? [];
    edgesOn.set(edge.on, siblings);
    siblings.push(edge);
  }
  const advance = await advanceGraph([...jobs.values()], async (names) => ({
    jobs: [],
    edges: names.flatMap((name) => edgesOn.get(name) ?? []),
  }));
  for (const { was: _, ...job } of advance.jobs) jobs.set(job.name, job);
  const advanced = new Map(advance.edges.map((edge) => [`${edge.job}\n${edge.on}`, edge]));
  return {
    jobs: [...jobs.values()],
    edges: edges.map((edge) => advanced.get(`${edge.job}\n${edge.on}`) ?? edge),
  };
}
