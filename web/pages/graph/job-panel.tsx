import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Graph, JobSummary } from "#api/graph.ts";
import { StateBadge, StateIcon } from "../../parts/state.tsx";
import { Elapsed } from "../../parts/times.tsx";

interface Props {
  readonly graph: Graph;
  readonly job: JobSummary;
  readonly onSelect: (job: string | undefined) => void;
}

/** The selected job: what a glance needs; its page has the rest. */
export function JobPanel({ graph, job, onSelect }: Props) {
  const { before, after } = useMemo(() => {
    const byName = new Map(graph.jobList.map((each) => [each.name, each]));
    const named = (names: readonly string[]) => names.flatMap((name) => byName.get(name) ?? []);
    return {
      before: named(graph.edges.filter((edge) => edge.job === job.name).map((edge) => edge.on)),
      after: named(graph.edges.filter((edge) => edge.on === job.name).map((edge) => edge.job)),
    };
  }, [graph, job.name]);
  return (
    <aside className="job-panel" aria-label={`Job ${job.name}`}>
      <header>
        <h2>{job.name}</h2>
        <button
          type="button"
          className="quiet"
          aria-label="Close"
          title="Close (Esc)"
          onClick={() => onSelect(undefined)}
        >
          ✕
        </button>
      </header>
      <p className="row">
        <StateBadge state={job.state} />
        {job.cached ? <span className="badge is-cached">cached</span> : null}
      </p>
      {job.reason === null ? null : <p>{job.reason}</p>}
      <dl className="facts">
        <dt>Waited</dt>
        <dd>
          <Elapsed from={job.readyAt} to={job.startedAt ?? job.finishedAt} />
        </dd>
        <dt>Took</dt>
        <dd>
          <Elapsed from={job.startedAt} to={job.finishedAt} />
        </dd>
        <dt>Runs</dt>
        <dd className="number">{job.runs}</dd>
        {Object.entries(job.tags).map(([name, value]) => (
          <Tag key={name} name={name} value={value} />
        ))}
      </dl>
      <Link
        className="button"
        to="/graphs/$id/jobs/$name"
        params={{ id: graph.id, name: job.name }}
      >
        Log and runs <kbd>↵</kbd>
      </Link>
      <Neighbours title="Waits for" jobs={before} onSelect={onSelect} />
      <Neighbours title="Waited for by" jobs={after} onSelect={onSelect} />
    </aside>
  );
}

function Tag({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

const mostShown = 50;

function Neighbours({
  title,
  jobs,
  onSelect,
}: {
  title: string;
  jobs: readonly JobSummary[];
  onSelect: (job: string) => void;
}) {
  if (jobs.length === 0) return null;
  return (
    <section>
      <h3>
        {title} <span className="faint number">{jobs.length}</span>
      </h3>
      <ul className="neighbours">
        {jobs.slice(0, mostShown).map((job) => (
          <li key={job.name}>
            <button type="button" onClick={() => onSelect(job.name)}>
              <StateIcon state={job.state} />
              <span className="ellipsis">{job.name}</span>
            </button>
          </li>
        ))}
      </ul>
      {jobs.length > mostShown ? <p className="faint">and {jobs.length - mostShown} more</p> : null}
    </section>
  );
}
