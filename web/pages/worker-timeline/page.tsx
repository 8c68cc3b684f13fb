import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { defaultTimelineMinutes, type WorkerTimeline } from "#api/worker-timeline.ts";
import { apiBase } from "../../farm/ask.ts";
import { Choice } from "../../parts/choice.tsx";
import { durationText, wholeDurationText } from "../../parts/duration.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { timelineQuery } from "./load.ts";
import { periods, scales, type WorkerTimelineSearch } from "./search.ts";
import { TimelineCanvas } from "./timeline-canvas.tsx";
import "./timeline.css";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

const none: WorkerTimeline["workers"] = [];

/** What each worker executed in a period, and why its slots were free. */
export function WorkerTimelinePage() {
  const search = useSearch({ from: "/workers/timeline" });
  const navigate = useNavigate({ from: "/workers/timeline" });
  const minutes = search.minutes ?? defaultTimelineMinutes;
  const scale = search.scale ?? "linear";
  const { data: timeline } = useSuspenseQuery(timelineQuery(minutes));
  // Rendered after the timeline is drawn: the table of 50 workers takes as long as all the rest.
  const listed = useDeferredValue(timeline.workers, none);
  usePageTitle("Timeline", "Workers");
  const change = (next: WorkerTimelineSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });

  if (timeline.workers.length === 0) {
    return (
      <EmptyState
        heading="h1"
        title="No workers"
        command={`grange worker --server ${location.origin}`}
      >
        The timeline shows what workers executed. Start one on any machine that reaches this
        address.
      </EmptyState>
    );
  }
  const trace = `${apiBase}${workerEndpoints.workerTrace.path}?minutes=${minutes}`;
  return (
    <div className="page wide-page timeline-page">
      <h1>
        Timeline{" "}
        <span className="faint number">{numberText(timeline.runs.execution.length)} runs</span>
      </h1>
      <div className="toolbar" role="toolbar" aria-label="What to show">
        <Choice
          label="Period"
          options={periods}
          chosen={minutes}
          textOf={(each) => wholeDurationText(each * 60_000)}
          onChoose={(each) => change({ minutes: each })}
        />
        <Choice
          label="Scale of time"
          options={scales}
          chosen={scale}
          onChoose={(each) => change({ scale: each })}
        />
        <a className="button" href={trace} download>
          Download as trace
        </a>
      </div>
      {timeline.isCut ? (
        <p role="status">
          Only the latest {numberText(timeline.runs.execution.length)} runs are shown, from{" "}
          {new Date(timeline.from).toLocaleString()}.
        </p>
      ) : null}
      <TimelineCanvas key={minutes} timeline={timeline} kind={scale} />
      <Legend />
      <Sums workers={listed} />
    </div>
  );
}

const meanings = [
  ["succeeded", "succeeded"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
  ["running", "runs now"],
  ["input", "half bar: waits for its inputs"],
  ["no-work", "thin line: no work"],
  ["draining", "thick line: draining"],
  ["lost", "hatched: lost"],
] as const;

function Legend() {
  return (
    <ul className="timeline-legend">
      {meanings.map(([kind, meaning]) => (
        <li key={kind}>
          <span className={`timeline-sample of-${kind}`} aria-hidden="true" /> {meaning}
        </li>
      ))}
    </ul>
  );
}

function Sums({ workers }: { readonly workers: WorkerTimeline["workers"] }) {
  return (
    <section>
      <h2>Time of slots</h2>
      {/* Wider than a phone, and without links: the keyboard must reach it to scroll. */}
      <ScrollableTable label="Time of slots">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">Executing</th>
              <th scope="col">Waiting for inputs</th>
              <th scope="col">No work</th>
              <th scope="col">Draining</th>
              <th scope="col">Lost</th>
            </tr>
          </thead>
          <tbody>
            {workers.map((worker) => {
              const parts = [
                worker.executingMs,
                worker.inputMs,
                worker.noWorkMs,
                worker.drainingMs,
                worker.lostMs,
              ];
              const all = Math.max(
                parts.reduce((sum, part) => sum + part, 0),
                1,
              );
              return (
                <tr key={worker.name}>
                  <th scope="row">{worker.name}</th>
                  {parts.map((part, n) => (
                    // The columns have a fixed order.
                    <td key={n} className="number">
                      {Math.round((100 * part) / all)} %{" "}
                      <span className="faint">{durationText(part)}</span>
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollableTable>
    </section>
  );
}
