import type { JobSummary } from "#api/graph.ts";
import { StateIcon } from "../../parts/state.tsx";
import { stateWords } from "../../parts/state-words.ts";
import { Elapsed } from "../../parts/times.tsx";

/** Explains the state of the job under the pointer. */
export function HoveredJob({ job }: { job: JobSummary | undefined }) {
  if (job === undefined) return null;
  return (
    <div className="hovered-job" role="status">
      <StateIcon state={job.state} silent />
      <strong>{job.name}</strong>
      <span>{stateWords[job.state]}</span>
      {job.reason === null ? null : <span className="faint">{job.reason}</span>}
      {job.startedAt === null ? null : <Elapsed from={job.startedAt} to={job.finishedAt} />}
    </div>
  );
}
