import { Link } from "@tanstack/react-router";
import type { BenchmarkJobView } from "#api/benchmark-request.ts";
import { durationText } from "../../parts/duration.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { Elapsed } from "../../parts/times.tsx";
import { jobStates, purposeWords } from "./request-words.ts";
import { StateMark } from "./state-mark.tsx";

/** A request's jobs: the subject and purpose of each, its collector, and its duration compared with similar jobs. */
export function JobsTable({ jobs }: { readonly jobs: readonly BenchmarkJobView[] }) {
  if (jobs.length === 0) return <p className="faint">No jobs yet.</p>;
  return (
    <ScrollableTable label="Table of jobs">
      <table className="figures lab-jobs">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Purpose</th>
            <th scope="col">Set</th>
            <th scope="col">State</th>
            <th scope="col">Collector</th>
            <th scope="col">Attempts</th>
            <th scope="col">Took</th>
            <th scope="col" title="Recent durations of similar jobs">
              Usually
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <th scope="row">
                {[job.section, job.backend, job.profile].filter(Boolean).join(" · ")}{" "}
                <span className="faint">
                  {job.artifact}
                  {job.against === null ? "" : ` against ${job.against}`} · {job.target}
                  {job.benchmarks.length === 0 ? "" : ` · only ${job.benchmarks.join(", ")}`}
                </span>
                {job.error === null ? null : (
                  <pre className="problem lab-job-error">{shownText(job.error)}</pre>
                )}
              </th>
              <td>
                {purposeWords[job.purpose]}
                {job.optional ? <span className="faint"> optional</span> : null}
              </td>
              <td>{job.set}</td>
              <td>
                <StateMark state={jobStates[job.state]} silent />
                {jobStates[job.state].words}
              </td>
              <td>
                {job.collector === null ? (
                  "–"
                ) : (
                  <Link to="/benchmarks/collectors/$name" params={{ name: job.collector }}>
                    {job.collector}
                  </Link>
                )}
              </td>
              <td>
                {job.attempts} of {job.maxAttempts}
              </td>
              <td>
                <Elapsed from={job.startedAt} to={job.endedAt} />
              </td>
              <td>{job.usualSeconds === null ? "–" : durationText(job.usualSeconds * 1_000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}
