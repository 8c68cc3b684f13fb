import type { PlannedChange, PlannedEffect, PlannedJob } from "#api/rerun.ts";
import { durationText } from "../../../parts/duration.ts";
import { StateIcon } from "../../../parts/state.tsx";

const mostShown = 300;

/** In the order of display. */
const actions: Readonly<Record<PlannedEffect, string>> = {
  runs: "to run",
  "runs because needed": "to run, because other jobs need them",
  "runs because downstream": "to run, because they depend on those",
  "is revived": "skipped so far, to run if the jobs before them succeed",
  "is skipped": "to be skipped if all goes well",
  "is set inactive": "to be set inactive",
  "is left alone": "left unchanged",
};

/** The exact effect of a change: job by job, and its cost. */
export function PlannedJobs({ change }: { readonly change: PlannedChange }) {
  const groups = Object.entries(actions).flatMap(([action, words]) => {
    const jobs = change.jobs.filter((job) => job.does === action);
    return jobs.length === 0 ? [] : [{ action, words, jobs }];
  });
  if (groups.length === 0)
    return <p>Nothing: no job is selected, or no selected job can be changed.</p>;
  return (
    <>
      <Expected change={change} />
      <div className="planned-jobs" role="region" aria-label="What will happen">
        {groups.map(({ action, words, jobs }) => (
          <section key={action}>
            <h3>
              <span className="number">{jobs.length}</span> {words}
            </h3>
            <ul>
              {jobs.slice(0, mostShown).map((job) => (
                <PlannedLine key={`${job.graph} ${job.job}`} job={job} />
              ))}
            </ul>
            {jobs.length > mostShown ? (
              <p className="faint">and {jobs.length - mostShown} more</p>
            ) : null}
          </section>
        ))}
      </div>
    </>
  );
}

function PlannedLine({ job }: { readonly job: PlannedJob }) {
  const about = [
    job.times > 1 ? `${job.times} times` : "",
    job.expectedMs === null ? "" : `about ${durationText(job.expectedMs)}`,
    job.waitsFor.length === 0 ? "" : `after ${shortList(job.waitsFor)}`,
    job.why ?? "",
  ].filter(Boolean);
  return (
    <li className="planned-job">
      <StateIcon state={job.state} />
      <span className="ellipsis">{job.job}</span>
      <span className="faint">{about.join(", ")}</span>
    </li>
  );
}

function Expected({ change: { expected } }: { readonly change: PlannedChange }) {
  if (expected.runs === 0) return null;
  const known = expected.unknownJobs < expected.runs;
  return (
    <p className="facts-line row planned-what">
      <strong className="number">
        {expected.runs} {expected.runs === 1 ? "run" : "runs"}
      </strong>
      {known ? (
        <>
          <span>takes about {durationText(expected.endToEndMs)} if workers are free</span>
          <span>{durationText(expected.workerMs)} of worker time</span>
        </>
      ) : (
        <span>duration not known: none of them has succeeded before</span>
      )}
      {expected.cost === null ? null : <span>cost about {expected.cost.toFixed(2)}</span>}
      {known && expected.unknownJobs > 0 ? (
        <span className="faint">not counting {expected.unknownJobs} that never succeeded</span>
      ) : null}
    </p>
  );
}

function shortList(names: readonly string[]): string {
  const [first, second, ...others] = names;
  if (others.length > 0) return `${first} and ${names.length - 1} others`;
  return second === undefined ? (first ?? "") : `${first} and ${second}`;
}
