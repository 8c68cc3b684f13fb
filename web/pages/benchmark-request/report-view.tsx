import { Link } from "@tanstack/react-router";
import type { Report } from "#api/benchmark-comparison.ts";
import { caseKey } from "#core/test-case.ts";
import { Copyable } from "../../parts/copy.tsx";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { Ago } from "../../parts/times.tsx";
import { BrokenList, MissingList } from "../benchmark-compare/broken-list.tsx";
import { SummaryRows } from "../benchmark-compare/summary-table.tsx";
import {
  evidenceText,
  statedChange,
  verdicts,
  verdictText,
} from "../benchmark-compare/verdict-words.ts";
import { caseWords } from "../benchmarks/case-words.ts";
import { changeText } from "../benchmarks/figure-text.ts";

const shownAtOnce = 50;

/** The report of a request, as it was when its last job ended. */
export function ReportView({ report }: { readonly report: Report }) {
  const { after, before, changes, markdown, missing, newlyBroken, suite } = report;
  return (
    <section aria-label="Report" className="card">
      <div className="row lab-wrap">
        <h2>Report</h2>
        <span className="faint">
          made <Ago time={report.madeAt} />
        </span>
        <span className="grow" />
        <Copyable text={markdown} shown="Markdown" label="the report as Markdown" />
      </div>
      <p className="report-verdict">{report.verdict}</p>
      <SummaryRows summaries={report.summaries} />
      <BrokenList broken={newlyBroken} />
      {changes.length === 0 ? (
        <p className="faint">No relevant change.</p>
      ) : (
        <ScrollableTable label="Relevant changes">
          <table className="figures">
            <thead>
              <tr>
                <th scope="col">Case</th>
                <th scope="col">Metric</th>
                <th scope="col">Change</th>
                <th scope="col">Evidence</th>
                <th scope="col">Verdict</th>
              </tr>
            </thead>
            <tbody>
              {changes.slice(0, shownAtOnce).map((each) => (
                <tr key={`${caseKey(each.case)} ${each.metric}`}>
                  <th scope="row">
                    <Link
                      to="/benchmarks/series"
                      search={{ suite, case: caseKey(each.case), metric: each.metric }}
                      title="Its history"
                    >
                      {each.case.benchmark}
                    </Link>{" "}
                    <span className="faint">{caseWords(each.case)}</span>
                  </th>
                  <td>{each.metric}</td>
                  <td>{changeText(statedChange(each))}</td>
                  <td>{evidenceText(each)}</td>
                  <td>
                    <span className={`badge ${verdicts[each.verdict].colour}`}>
                      {verdictText(each)}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollableTable>
      )}
      {changes.length <= shownAtOnce ? null : (
        <p className="faint">
          The largest {shownAtOnce} of {numberText(changes.length)};{" "}
          <Link to="/benchmarks/compare" search={{ suite, before, after }}>
            all of them
          </Link>
          .
        </p>
      )}
      <MissingList missing={missing} before={before} after={after} />
      <p>
        <span className="faint">Command:</span> <Copyable text={report.reproduce} label="command" />
      </p>
    </section>
  );
}
