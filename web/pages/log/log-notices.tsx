import type { LogIndex } from "#api/log.ts";
import { numberText } from "../../parts/number-text.ts";
import { shownText } from "../../parts/shown-text.ts";
import type { LogStatus } from "./paged-log.ts";

interface Props {
  readonly status: LogStatus;
  readonly lines: number;
  readonly notes: LogIndex["notes"];
  readonly onLine: (line: number) => void;
}

/** What a reader has to know about the log as a whole: that it could not be loaded, is empty, or has a gap. */
export function LogNotices({ status, lines, notes, onLine }: Props) {
  const gap = notes.find(({ text }) => text.includes("left out"));
  return (
    <>
      {status.state === "failed" ? (
        <p role="alert" className="problem">
          The log could not be loaded: {status.message}. Reload the page to try again.
        </p>
      ) : null}
      {status.state === "complete" && lines === 0 ? (
        <p className="faint center">The log is empty.</p>
      ) : null}
      {status.state === "live" && lines === 0 ? (
        <p className="faint center">The log is empty so far.</p>
      ) : null}
      {gap === undefined ? null : (
        <p role="note" className="log-notice">
          This log has a gap: {shownText(gap.text.replace(/^\[grange: |\]$/g, ""))}.
          <button type="button" onClick={() => onLine(gap.line)}>
            Show line {numberText(gap.line)}
          </button>
        </p>
      )}
    </>
  );
}
