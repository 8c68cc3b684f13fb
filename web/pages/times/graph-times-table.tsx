import type { GraphTimes } from "#api/times.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { DurationCells, DurationHeads } from "./duration-cells.tsx";

interface Props {
  readonly all: GraphTimes;
  /** By branch; empty when the page groups by a property with several values per graph. */
  readonly groups: readonly GraphTimes[];
}

export function GraphTimesTable({ all, groups }: Props) {
  return (
    <ScrollableTable label="Table of the times of graphs">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">branch</th>
            <th scope="col">graphs</th>
            <DurationHeads of="end to end" />
            <DurationHeads of="critical path" />
            <DurationHeads of="to first failure" />
          </tr>
        </thead>
        <tbody>
          <Line name="all" times={all} />
          {groups.map((times) => (
            <Line
              key={times.name}
              name={times.name === "" ? "no branch" : times.name}
              times={times}
            />
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function Line({ name, times }: { readonly name: string; readonly times: GraphTimes }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{times.endToEnd.count.toLocaleString()}</td>
      <DurationCells durations={times.endToEnd} />
      <DurationCells durations={times.criticalPath} />
      <DurationCells durations={times.firstFailure} />
    </tr>
  );
}
