import { memo, useMemo, useState } from "react";
import type { Graph, JobSummary } from "#api/graph.ts";
import { StateIcon } from "../../parts/state.tsx";
import { stateWords } from "../../parts/state-words.ts";
import { Elapsed } from "../../parts/times.tsx";
import { cellPitch } from "./boxes.ts";
import { Cells } from "./cells.tsx";
import { groupJobs, type JobGroup } from "./group-jobs.ts";
import { HoveredJob } from "./hovered-job.tsx";
import { jobAt } from "./job-at.ts";

interface Props {
  readonly graph: Graph;
  readonly jobs: readonly JobSummary[];
  readonly selected: string | undefined;
  readonly onSelect: (job: string) => void;
}

const perRow = 40;
const mostUrgent = 12;

/** An overview of all jobs: first those that failed or run, then every job as a cell of its group. */
export function JobMatrix({ graph, jobs, selected, onSelect }: Props) {
  const groups = useMemo(() => groupJobs(jobs), [jobs]);
  const failed = useMemo(() => jobs.filter((job) => job.state === "failed"), [jobs]);
  const running = useMemo(() => jobs.filter((job) => job.state === "running"), [jobs]);
  const [hovered, setHovered] = useState<string>();
  return (
    <div className="matrix">
      <Urgent title="Failed" jobs={failed} selected={selected} onSelect={onSelect} />
      <Urgent title="Running" jobs={running} selected={selected} onSelect={onSelect} />
      {jobs.length === 0 ? <p className="faint center">No job matches the filter.</p> : null}
      {/* Each cell can also be reached with j and k, and by name in the list view. */}
      <div
        className="groups"
        onClick={(event) => {
          const job = jobAt(event);
          if (job !== undefined) onSelect(job);
        }}
        onPointerOver={(event) => setHovered(jobAt(event))}
        onPointerLeave={() => setHovered(undefined)}
      >
        {groups.map((group) => (
          <GroupOfCells
            key={group.name}
            group={group}
            selected={group.jobs.some((job) => job.name === selected) ? selected : undefined}
          />
        ))}
      </div>
      <HoveredJob job={graph.jobList.find((job) => job.name === hovered)} />
    </div>
  );
}

/** Drawn again only when a job of the group changes, or the selection changes. */
const GroupOfCells = memo(function GroupOfCells({
  group,
  selected,
}: {
  group: JobGroup;
  selected: string | undefined;
}) {
  const rows = Math.ceil(group.jobs.length / perRow);
  const width = Math.min(perRow, group.jobs.length) * cellPitch;
  const failed = group.jobs.filter((job) => job.state === "failed").length;
  return (
    <section className="group">
      <div className="group-head" style={{ width }}>
        <h3 className="ellipsis" title={group.name}>
          {group.name === "" ? "others" : group.name}
        </h3>
        <span className="number faint">
          {failed > 0 ? <strong className="is-failed">{failed} / </strong> : null}
          {group.jobs.length}
        </span>
      </div>
      <svg width={width} height={rows * cellPitch} role="img" aria-label={summaryOf(group)}>
        <Cells jobs={group.jobs} perRow={perRow} dimmed={undefined} selected={selected} />
      </svg>
    </section>
  );
});

function summaryOf(group: JobGroup): string {
  const states = [...new Set(group.jobs.map((job) => job.state))];
  const counts = states.map(
    (state) => `${group.jobs.filter((job) => job.state === state).length} ${stateWords[state]}`,
  );
  return `${group.name}: ${counts.join(", ")}`;
}

function Urgent({
  title,
  jobs,
  selected,
  onSelect,
}: { title: string } & Pick<Props, "jobs" | "selected" | "onSelect">) {
  if (jobs.length === 0) return null;
  return (
    <section className="urgent">
      <h2>
        {title} <span className="faint number">{jobs.length}</span>
      </h2>
      <ul>
        {jobs.slice(0, mostUrgent).map((job) => (
          <li key={job.name}>
            <button
              type="button"
              aria-pressed={job.name === selected}
              onClick={() => onSelect(job.name)}
            >
              <StateIcon state={job.state} silent />
              <span className="ellipsis">{job.name}</span>
              <span className="faint ellipsis">{job.reason}</span>
              <Elapsed from={job.startedAt} to={job.finishedAt} />
            </button>
          </li>
        ))}
      </ul>
      {jobs.length > mostUrgent ? (
        <p className="faint">and {jobs.length - mostUrgent} more: filter by state to see all</p>
      ) : null}
    </section>
  );
}
