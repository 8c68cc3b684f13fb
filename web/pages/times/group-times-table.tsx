import type { GroupTimes, TimesGrouping } from "#api/times.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { DurationCells, DurationHeads } from "./duration-cells.tsx";
import { percentText } from "./percent-text.ts";

interface Props {
  readonly group: TimesGrouping;
  readonly all: GroupTimes;
  readonly groups: readonly GroupTimes[];
}

export function GroupTimesTable({ group, all, groups }: Props) {
  return (
    <ScrollableTable label="Table of the times of runs">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">{group}</th>
            <th scope="col">runs</th>
            <th scope="col">in time</th>
            <DurationHeads of="waited" />
            <DurationHeads of="ran" />
          </tr>
        </thead>
        <tbody>
          <Line name="all" times={all} />
          {groups.map((times) => (
            <Line
              key={times.name}
              name={times.name === "" ? `no ${group}` : times.name}
              times={times}
            />
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function Line({ name, times }: { readonly name: string; readonly times: GroupTimes }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{times.run.count.toLocaleString()}</td>
      <td>{times.withinGoal === null ? "–" : percentText(times.withinGoal)}</td>
      <DurationCells durations={times.wait} />
      <DurationCells durations={times.run} />
    </tr>
  );
}
