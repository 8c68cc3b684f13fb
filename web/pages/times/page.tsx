import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Choice } from "../../parts/choice.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { GoalTile } from "./goal-tile.tsx";
import { GraphTimesTable } from "./graph-times-table.tsx";
import { GroupTimesTable } from "./group-times-table.tsx";
import { timesQuery } from "./load.ts";
import { MetricTile } from "./metric-tile.tsx";
import { groupings, type TimesSearch, type TimeWindow, windows } from "./search.ts";
import "./times.css";

/** How long work waits and takes: measurements compared with the goal. */
export function TimesPage() {
  const search = useSearch({ from: "/times" });
  const navigate = useNavigate({ from: "/times" });
  const { data: times } = useSuspenseQuery(timesQuery(search));
  usePageTitle("Times");
  const change = (next: TimesSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const windowShown: TimeWindow = search.window ?? "7d";
  return (
    <div className="page">
      <div className="row">
        <h1>
          Times{" "}
          <span className="faint">
            {[search.repository, search.branch].filter(Boolean).join(" · ")} over{" "}
            {windows[windowShown]}
          </span>
        </h1>
        <span className="grow" />
        <Choice
          label="Window"
          options={Object.keys(windows) as TimeWindow[]}
          chosen={windowShown}
          onChoose={(window) => change({ window })}
        />
        <Choice
          label="Group by"
          options={groupings}
          chosen={times.group}
          onChoose={(group) => change({ group })}
        />
      </div>
      <div className="tiles">
        <GoalTile times={times} />
        {times.record === null ? null : <MetricTile record={times.record} />}
      </div>
      <h2>
        Runs{" "}
        <span className="faint">
          waiting time starts when a run could start; the time of blocked jobs does not count
        </span>
      </h2>
      <GroupTimesTable group={times.group} all={times.all} groups={times.groups} />
      <h2>Graphs</h2>
      <GraphTimesTable all={times.graphs} groups={times.graphGroups} />
    </div>
  );
}
