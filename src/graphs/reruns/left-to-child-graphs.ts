import type { GraphSnapshot, SnapshotJob } from "./graph-snapshot.ts";

/**
 * Finds selected graph jobs whose graphs repair them: the graph of the latest run is among the selected graphs, and all
 * its failed jobs are selected, too. If such a job ran again itself, it would make a second graph of the same jobs.
 *
 * Returns for each graph its jobs of this kind, each with the reason for display.
 */
export function leftToChildGraphs(
  chosen: ReadonlyMap<GraphSnapshot, ReadonlySet<string>>,
): Map<GraphSnapshot, Map<string, string>> {
  const graphs = new Map([...chosen.keys()].map((graph) => [graph.id, graph]));
  const reasonFor = ({ childGraph }: SnapshotJob): string | undefined => {
    const child = childGraph ? graphs.get(childGraph) : undefined;
    const failed = child?.jobs.filter(({ state }) => state === "failed") ?? [];
    const selected = child && chosen.get(child);
    if (child === undefined || failed.length === 0) return undefined;
    if (!failed.every(({ name }) => selected?.has(name))) return undefined;
    return `failed jobs in its graph ${child.id.slice(0, 8)} run again, and it ends with that graph`;
  };
  return new Map(
    [...chosen].map(([graph, names]) => [
      graph,
      new Map(
        graph.jobs
          .filter(({ name, state }) => state === "failed" && names.has(name))
          .flatMap((job) => {
            const reason = reasonFor(job);
            return reason === undefined ? [] : [[job.name, reason] as const];
          }),
      ),
    ]),
  );
}
