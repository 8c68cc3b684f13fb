import { memo } from "react";
import type { JobSummary } from "#api/graph.ts";
import { cellPitch, cellSize } from "./boxes.ts";

interface Props {
  readonly jobs: readonly JobSummary[];
  readonly perRow: number;
  readonly selected: string | undefined;
  readonly dimmed: ReadonlySet<string> | undefined;
}

/** Jobs as cells of a grid inside an `<svg>`. The parent handles clicks by `data-job`. */
export const Cells = memo(function Cells({ jobs, perRow, selected, dimmed }: Props) {
  return jobs.map((job, index) => (
    <use
      key={job.name}
      href={`#cell-${job.state}`}
      className={`cell is-${job.state}${job.name === selected ? " selected" : ""}${dimmed?.has(job.name) ? " dimmed" : ""}`}
      data-job={job.name}
      x={(index % perRow) * cellPitch}
      y={Math.floor(index / perRow) * cellPitch}
      width={cellSize}
      height={cellSize}
    />
  ));
});
