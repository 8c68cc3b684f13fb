import type { RequestDetail } from "#api/benchmark-request.ts";
import { shownLines } from "../../parts/shown-text.ts";
import { jobWords } from "./request-words.ts";

/** The errors of a request's benchmarks and jobs, unchanged. */
export function ErrorList({
  request: { errorList, jobList },
}: {
  readonly request: Pick<RequestDetail, "errorList" | "jobList">;
}) {
  const jobs = jobList.filter(({ state, error }) => state === "failure" && error !== null);
  if (errorList.length + jobs.length === 0) return <p className="faint">None.</p>;
  return (
    <ul className="lab-error-list">
      {errorList.map(({ artifact, benchmark, case: of, message }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: errors have no identity but their place
        <li key={n}>
          <strong>{benchmark === "" ? "A whole job" : benchmark}</strong>{" "}
          <span className="faint">
            of {artifact}
            {of === null ? "" : `, ${of}`}
          </span>
          <pre className="problem" tabIndex={0}>
            {shownLines(message)}
          </pre>
        </li>
      ))}
      {jobs.map((job) => (
        <li key={job.id}>
          <strong>Job {jobWords(job)}</strong> <span className="faint">of {job.artifact}</span>
          <pre className="problem" tabIndex={0}>
            {shownLines(job.error ?? "")}
          </pre>
        </li>
      ))}
    </ul>
  );
}
