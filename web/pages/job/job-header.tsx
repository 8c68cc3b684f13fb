import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { JobDetail } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import { formatSelection } from "#api/selection/format-selection.ts";
import { Crumbs } from "../../parts/crumbs.tsx";
import { JobMarks } from "../../parts/job-marks.tsx";
import { StateBadge } from "../../parts/state.tsx";
import { WhyNotRunning } from "../../parts/why-not-running.tsx";
import { ChangeButtons } from "../graph/changes/change-buttons.tsx";
import { PriorityDialog } from "../graph/changes/priority-dialog.tsx";
import { ReleaseButtons } from "../graph/changes/release-buttons.tsx";

interface Props {
  readonly detail: JobDetail;
}

export function JobHeader({ detail: { graph, job, priority, waiting } }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <header className="page-header">
      <Crumbs>
        <Link to="/repositories/$name" params={{ name: graph.repository }}>
          {graph.repository}
        </Link>{" "}
        /{" "}
        <Link to="/graphs/$id" params={{ id: graph.id }} search={{ job: job.name }}>
          {graph.subject}
        </Link>
      </Crumbs>
      <div className="row job-title">
        <StateBadge state={job.state} />
        <h1>{job.name}</h1>
        {job.kind === "command" ? null : <span className="faint">{job.kind}</span>}
        <JobMarks job={job} />
        <span className="grow" />
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
          {isOver(job.state) ? null : (
            <button type="button" onClick={() => setIsAsking(true)}>
              Priority…
            </button>
          )}
          {job.state === "failed" ? (
            <Link
              className="button"
              to="/searches"
              search={{
                kind: "bisect",
                repository: graph.repository,
                selection: formatSelection({ op: "key", key: "name", pattern: [job.name] }),
                to: graph.commit,
              }}
            >
              Bisect…
            </Link>
          ) : null}
        </div>
      </div>
      {isAsking ? (
        <PriorityDialog
          graph={graph}
          job={{ name: job.name, priority }}
          onClose={() => setIsAsking(false)}
        />
      ) : null}
      <WhyNotRunning graphId={graph.id} job={job} known={waiting} />
    </header>
  );
}
