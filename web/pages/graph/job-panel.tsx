import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import type { Edge, Graph, JobSummary } from "#api/graph.ts";
import { JobMarks } from "../../parts/job-marks.tsx";
import { StateBadge, StateIcon } from "../../parts/state.tsx";
import { Elapsed } from "../../parts/times.tsx";
import { WhyNotRunning } from "../../parts/why-not-running.tsx";
import { ChangeButtons } from "./changes/change-buttons.tsx";
import { ReleaseButtons } from "./changes/release-buttons.tsx";
import { WaitedFor } from "./changes/waited-for.tsx";

interface Props {
  readonly graph: Graph;
  readonly job: JobSummary;
  readonly onSelect: (job: string | undefined) => void;
}

/** A summary of the selected job; its page has all details. */
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
        <JobMarks job={job} />
      </p>
      <WhyNotRunning graphId={graph.id} job={job} />
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
      <div className="button-row">
        {job.kind === "breakpoint" && job.state === "waiting" ? (
          <ReleaseButtons graphId={graph.id} job={job.name} />
        ) : null}
        <ChangeButtons
          graphId={graph.id}
          jobs={[job]}
          target={{ jobs: [job.name] }}
          named={job.name}
          isChoice
          hasKeys
        />
      </div>
      <Neighbours
        title="Waits for"
        jobs={before}
        onSelect={onSelect}
        beside={(on) => (
          <WaitedFor
            graphId={graph.id}
            edge={edgeTo(graph, job.name, on.name)}
            canStillGoOn={mayGoOnWithout(job, on)}
          />
        )}
      />
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

/** A graph's stream does not report edges: nothing waits for a job that has succeeded since. */
function mayGoOnWithout({ state }: JobSummary, on: JobSummary): boolean {
  return (state === "blocked" || state === "unreachable") && on.state !== "succeeded";
}

function edgeTo(graph: Graph, job: string, on: string): Edge | undefined {
  return graph.edges.find((edge) => edge.job === job && edge.on === on);
}

const mostShown = 50;

function Neighbours({
  title,
  jobs,
  onSelect,
  beside,
}: {
  title: string;
  jobs: readonly JobSummary[];
  onSelect: (job: string) => void;
  beside?: (job: JobSummary) => ReactNode;
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
            {beside?.(job)}
          </li>
        ))}
      </ul>
      {jobs.length > mostShown ? <p className="faint">and {jobs.length - mostShown} more</p> : null}
    </section>
  );
}
