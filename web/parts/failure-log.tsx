import type { FailureOfJob } from "#api/failure-of-job.ts";
import "./failure-log.css";

interface Props {
  readonly log: NonNullable<FailureOfJob["log"]>;
  /** What wrote it, for people who hear the page. */
  readonly of: string;
}

/** The end of a log with its error lines marked; nothing when it has no lines. */
export function FailureLog({ log: { lines, continues }, of }: Props) {
  if (lines.length === 0) return null;
  return (
    <pre className="failure-log" role="group" aria-label={`End of the log of ${of}`} tabIndex={0}>
      {lines.map(({ text, isError }, index) =>
        isError ? <mark key={index}>{`${text}\n`}</mark> : <span key={index}>{`${text}\n`}</span>,
      )}
      {continues ? <span className="faint">… the log continues</span> : null}
    </pre>
  );
}
