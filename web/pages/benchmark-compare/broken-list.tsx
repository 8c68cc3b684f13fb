import type { Comparison } from "#api/benchmark-comparison.ts";
import { shownLines } from "../../parts/shown-text.ts";
import { caseTitle } from "../benchmarks/case-words.ts";

/** Benchmarks that fail in the later artifact but not in the earlier: no figure shows this. */
export function BrokenList({ broken }: { readonly broken: Comparison["newlyBroken"] }) {
  if (broken.length === 0) return null;
  return (
    <section aria-label="Newly broken" className="card lab-alarms">
      <h2>
        {broken.length === 1 ? "1 benchmark is" : `${broken.length} benchmarks are`} newly broken
      </h2>
      {broken.map(({ benchmark, message }) => (
        <details key={`${benchmark} ${message}`}>
          <summary>
            <strong>{benchmark}</strong>
          </summary>
          <pre className="problem" tabIndex={0}>
            {shownLines(message)}
          </pre>
        </details>
      ))}
    </section>
  );
}

/** Cases that only one of the two artifacts has: they are in no mean. */
export function MissingList(props: {
  readonly missing: Comparison["missing"];
  readonly before: string;
  readonly after: string;
}) {
  const { missing, before, after } = props;
  if (missing.length === 0) return null;
  return (
    <section aria-label="Missing cases">
      <details>
        <summary>
          {missing.length === 1 ? "1 case has" : `${missing.length} cases have`} a figure for only
          one of the two artifacts
        </summary>
        <ul className="missing-cases">
          {missing.map((each) => (
            <li key={caseTitle(each.case)}>
              {caseTitle(each.case)}{" "}
              <span className="faint">
                no figure for {each.missing === "before" ? before : after}
                {each.error === null ? "" : `: ${shownLines(each.error).split("\n", 1)[0] ?? ""}`}
              </span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
