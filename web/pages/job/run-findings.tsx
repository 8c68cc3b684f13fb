import { isAllowed } from "#api/findings.ts";
import type { Run } from "#api/graph.ts";

interface Props {
  readonly run: Run;
  /** Shows a line of the log. */
  readonly onLine: (line: number) => void;
}

/** The findings of the job's rules in a run's log; nothing when there are none. */
export function RunFindings({ run, onLine }: Props) {
  const numbers = Object.entries(run.numbers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (numbers.length === 0 && run.errorLines.length === 0) return null;
  return (
    <section className="run-findings" aria-label="Found in the log">
      {numbers.length === 0 ? null : (
        <dl className="run-facts">
          {numbers.map(([name, found]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <span className={isAllowed(found) ? "number" : "number is-failed"}>
                  {found.value}
                </span>
                {limitsText(found) === "" ? null : (
                  <span className="faint"> {limitsText(found)}</span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {run.errorLines.length === 0 ? null : (
        <details open={run.outcome !== "succeeded"}>
          <summary>
            Error lines <span className="faint number">{run.errorLines.length}</span>
          </summary>
          <ol className="error-lines" tabIndex={0} aria-label="Error lines">
            {run.errorLines.map(({ line, text }) => (
              <li key={line}>
                <a
                  className="log-number"
                  href={`?run=${run.number}&line=${line}`}
                  aria-label={`Line ${line}`}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey) return;
                    event.preventDefault();
                    onLine(line);
                  }}
                >
                  {line}
                </a>
                <span>{text}</span>
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

function limitsText({ min, max }: Run["numbers"][string]): string {
  if (min !== null && max !== null) return `(from ${min} to ${max})`;
  if (min !== null) return `(at least ${min})`;
  return max === null ? "" : `(at most ${max})`;
}
