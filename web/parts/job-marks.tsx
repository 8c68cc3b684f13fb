import type { JobSummary } from "#api/graph.ts";

/** The special properties of a job besides its state, in words. */
export function JobMarks({ job }: { readonly job: JobSummary }) {
  return (
    <>
      {job.cached ? (
        <span className="badge is-cached" title="Its result was in the cache; nothing was executed">
          cached
        </span>
      ) : null}
      {job.stale ? (
        <span
          className="badge is-stale"
          title="It used an output that an earlier job has changed since"
        >
          stale
        </span>
      ) : null}
      {job.customised ? (
        <span className="badge" title="Its definition was changed for this graph only">
          customised
        </span>
      ) : null}
    </>
  );
}
