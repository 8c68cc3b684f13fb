import { turns } from "#scheduling/turns.ts";
import type { Plan } from "../plan.ts";
import { advanceGraph } from "./advance-graph.ts";
import { depthsOf } from "./depths.ts";
import type { AdvancingEdge, AdvancingJob, GraphPart } from "./graph-part.ts";

/** A plan's jobs and edges as they stand when nothing has run: those that wait for nothing are ready. */
export async function beginGraph(plan: Plan): Promise<GraphPart> {
  const turn = turns();
  const waitsFor = new Map<string, number>();
  for (const { job } of plan.edges) waitsFor.set(job, (waitsFor.get(job) ?? 0) + 1);
  const depths = depthsOf(
    plan.catalog.entries.map(({ name }) => name),
    plan.edges,
  );
  await turn();
  const jobs = new Map(
    plan.catalog.entries.map(({ name, definition }): [string, AdvancingJob] => {
      const isInactive = plan.inactive.has(name);
      const job: AdvancingJob = {
        name,
        kind: definition.kind ?? "command",
        depth: depths.get(name) ?? 0,
        wanted: isInactive ? null : "first",
        latestRun: undefined,
        setAside: isInactive ? "inactive" : null,
        openEdges: waitsFor.get(name) ?? 0,
        failedEdges: 0,
        state: "blocked",
        reason: isInactive ? "not asked for; activate it to run it" : null,
        runs: 0,
        yield: "",
        staleEdges: 0,
        stale: false,
      };
      return [name, job];
    }),
  );
  await turn();
  const edges = plan.edges.map(
    ({ job, on, condition }): AdvancingEdge => ({
      job,
      on,
      condition,
      status: "open",
      waived: false,
      taken: null,
      stale: false,
    }),
  );
  await turn();
  // All other jobs keep their state until one of these ends.
  const moving = [...jobs.values()].filter((job) => job.openEdges === 0 || job.wanted === null);
  const edgesAt = new Map<"on" | "job", Map<string, AdvancingEdge[]>>();
  const partAt = (end: "on" | "job", names: readonly string[]): GraphPart => {
    // Most graphs begin without a decided edge and do not need this.
    const grouped = edgesAt.get(end) ?? groupedBy(edges, (edge) => edge[end]);
    edgesAt.set(end, grouped);
    const found = names.flatMap((name) => grouped.get(name) ?? []);
    const far = end === "on" ? "job" : "on";
    return { edges: found, jobs: found.flatMap((edge) => jobs.get(edge[far]) ?? []) };
  };
  const advance = await advanceGraph(moving, {
    outEdgesOf: async (names) => partAt("on", names),
    inEdgesOf: async (names) => partAt("job", names),
  });
  for (const { was: _was, isRevived: _isRevived, joinedBecause: _because, ...job } of advance.jobs)
    jobs.set(job.name, job);
  if (advance.edges.length === 0) return { jobs: [...jobs.values()], edges };
  const advanced = new Map(advance.edges.map((edge) => [`${edge.job}\n${edge.on}`, edge]));
  return {
    jobs: [...jobs.values()],
    edges: edges.map((edge) => advanced.get(`${edge.job}\n${edge.on}`) ?? edge),
  };
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(item);
  }
  return groups;
}
