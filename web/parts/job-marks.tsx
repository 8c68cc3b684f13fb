import type { JobSummary } from "#api/graph.ts";

/** The special properties of a job besides its state, in words. */
export function JobMarks({ job }: { readonly job: JobSummary }) {
  return (
    <>
      {job.cached ? (
        <span className="badge is-cached" title="Its result was known; nothing was executed">
          cached
        </span>
      ) : null}
      {job.stale ? (
        <span className="badge is-stale" title="It ran on what a job before it no longer gives">
          stale
        </span>
      ) : null}
      {job.customised ? (
        <span className="badge" title="Its definition was changed for this graph alone">
          customised
        </span>
      ) : null}
    </>
  );
}
