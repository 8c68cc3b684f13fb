import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { JobSummary } from "#api/graph.ts";
import { StateIcon } from "../../parts/state.tsx";
import { stateWords } from "../../parts/state-words.ts";
import { Elapsed } from "../../parts/times.tsx";

interface Props {
  readonly graphId: string;
  readonly jobs: readonly JobSummary[];
  readonly selected: string | undefined;
  readonly onSelect: (job: string) => void;
}

const rowHeight = 30;

export function JobList({ graphId, jobs, selected, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- no compiler memoizes here
  const rows = useVirtualizer({
    count: jobs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const at = jobs.findIndex((job) => job.name === selected);
  useEffect(() => {
    if (at !== -1) rows.scrollToIndex(at);
  }, [at, rows]);

  return (
    <div className="job-list" ref={scroller}>
      <div className="job-row head" aria-hidden="true">
        <span />
        <span>Job</span>
        <span>Why</span>
        <span className="right">Runs</span>
        <span className="right">Waited</span>
        <span className="right">Took</span>
      </div>
      {jobs.length === 0 ? <p className="faint center">No job matches the filter.</p> : null}
      <div
        className="job-rows"
        role="list"
        aria-label="Jobs"
        style={{ height: rows.getTotalSize() }}
      >
        {rows.getVirtualItems().map((row) => {
          const job = jobs[row.index];
          if (job === undefined) return null;
          return (
            <div
              key={job.name}
              role="listitem"
              className={`job-row${job.name === selected ? " selected" : ""}`}
              aria-current={job.name === selected}
              style={{ transform: `translateY(${row.start}px)` }}
              onClick={() => onSelect(job.name)}
            >
              <StateIcon state={job.state} />
              <Link to="/graphs/$id/jobs/$name" params={{ id: graphId, name: job.name }}>
                {job.name}
              </Link>
              <span className="faint ellipsis">
                {job.reason ?? (job.cached ? "cached" : stateWords[job.state])}
              </span>
              <span className="number right">{job.runs}</span>
              <span className="right">
                <Elapsed from={job.readyAt} to={job.startedAt ?? job.finishedAt} />
              </span>
              <span className="right">
                <Elapsed from={job.startedAt} to={job.finishedAt} />
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
