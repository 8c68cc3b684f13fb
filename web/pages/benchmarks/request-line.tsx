import { Link } from "@tanstack/react-router";
import type { RequestSummary } from "#api/benchmark-request.ts";

/** A request by its artifact's name, with the artifact of the comparison. */
export function RequestLink({ request }: { readonly request: RequestSummary }) {
  return (
    <Link className="main" to="/benchmarks/requests/$id" params={{ id: request.id }}>
      {request.artifact}
    </Link>
  );
}

export function CompareLink({
  request: { suite, artifact, parent },
}: {
  readonly request: Pick<RequestSummary, "suite" | "artifact" | "parent">;
}) {
  return parent === null ? null : (
    <Link to="/benchmarks/compare" search={{ suite, before: parent, after: artifact }}>
      compare
    </Link>
  );
}

/** The progress of its jobs, as one bar. */
export function JobsBar({ jobs: { total, ended, failed } }: Pick<RequestSummary, "jobs">) {
  const words =
    total === 0
      ? "no jobs yet"
      : `${ended} of ${total} jobs ended${failed === 0 ? "" : `, ${failed} of them failed`}`;
  return (
    <span className="counts-bar" role="img" aria-label={words} title={words}>
      <span
        className="is-succeeded"
        style={{ flexGrow: ended - failed }}
        hidden={ended === failed}
      />
      <span className="is-failed" style={{ flexGrow: failed }} hidden={failed === 0} />
      <span className="is-queued" style={{ flexGrow: total - ended }} hidden={ended === total} />
    </span>
  );
}
