import type { GridCell } from "#api/commit-grid.ts";
import type { JobState } from "#api/job-state.ts";
import { byAttention } from "#api/job-state-order.ts";

/** The jobs of one graph, column and state. */
interface CellPart {
  readonly graph: string;
  readonly column: string | null;
  readonly state: JobState;
  readonly jobs: number;
  /** The first of the jobs by name. */
  readonly job: string;
  readonly failure: string | null;
}

/** Returns the cells of each graph, in the order of their first parts. A cell shows its most urgent state. */
export function foldCells(parts: readonly CellPart[]): Map<string, GridCell[]> {
  const graphs = new Map<string, Map<string | null, GridCell>>();
  for (const { graph, ...part } of parts) {
    const cells = graphs.get(graph) ?? new Map<string | null, GridCell>();
    graphs.set(graph, cells);
    const known = cells.get(part.column);
    const failed = part.state === "failed" ? part.jobs : 0;
    if (known === undefined) {
      cells.set(part.column, { ...part, failed });
      continue;
    }
    const isMoreUrgent = byAttention.indexOf(part.state) < byAttention.indexOf(known.state);
    cells.set(part.column, {
      ...(isMoreUrgent ? { ...known, ...part } : known),
      jobs: known.jobs + part.jobs,
      failed: known.failed + failed,
    });
  }
  return new Map([...graphs].map(([graph, cells]) => [graph, [...cells.values()]]));
}
