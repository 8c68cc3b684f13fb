import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CaseComparison, Comparison } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { caseKey } from "#core/test-case.ts";
import { Copyable } from "../../parts/copy.tsx";
import { seriesQuery } from "../benchmark-series/load.ts";
import { valueText } from "../benchmarks/figure-text.ts";
import { reproduceCommands } from "./reproduce-commands.ts";
import { Sparkline } from "./sparkline.tsx";
import { evidenceSentence } from "./verdict-words.ts";

interface Props {
  readonly comparison: Comparison;
  readonly metric: Metric;
  readonly of: CaseComparison;
}

/** Points of a sparkline: about a month of nightlies before. */
const lately = 60;

/** The evidence of a verdict, the machine of the figures, and the commands to reproduce it. */
export function CaseDetail({ comparison, metric, of }: Props) {
  const { suite, before, after } = comparison;
  const key = caseKey(of.case);
  const { data, error } = useQuery(
    seriesQuery({ suite, case: key, metric: metric.name, kind: "master" }),
  );
  return (
    <div role="cell" className="case-detail">
      <p>{evidenceSentence(of)}</p>
      {of.warnings.map((warning) => (
        <p key={warning} className="case-warned">
          ⚠ {warning}
        </p>
      ))}
      <dl className="facts">
        <dt>{before.tag}</dt>
        <dd>
          {valueText(of.before, metric.unit)} on {of.collectors.before}
        </dd>
        <dt>{after.tag}</dt>
        <dd>
          {valueText(of.after, metric.unit)} on {of.collectors.after}
        </dd>
        <dt>Recent figures</dt>
        <dd>
          {error !== null ? (
            <span className="problem">{error.message}</span>
          ) : data === undefined ? (
            <span className="faint">Loading…</span>
          ) : (
            <Sparkline
              points={data.points.slice(-lately)}
              marked={[before.tag, after.tag]}
              unit={metric.unit}
            />
          )}{" "}
          <Link to="/benchmarks/series" search={{ suite, case: key, metric: metric.name }}>
            its history
          </Link>{" "}
          ·{" "}
          <Link to="/benchmarks/noise" search={{ suite, case: key }}>
            its noise
          </Link>
        </dd>
        <dt>Commands</dt>
        <dd>
          {reproduceCommands(comparison, of).map(({ text, shown }) => (
            <Copyable key={shown} text={text} shown={shown} label="command" />
          ))}
        </dd>
      </dl>
    </div>
  );
}
