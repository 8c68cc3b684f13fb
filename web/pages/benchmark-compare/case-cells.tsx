import { Link } from "@tanstack/react-router";
import type { CaseComparison } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { caseKey } from "#core/test-case.ts";
import { caseWords } from "../benchmarks/case-words.ts";
import { changeText, valueText } from "../benchmarks/figure-text.ts";
import { IntervalBar } from "./interval-bar.tsx";
import { evidenceText, statedChange, verdicts, verdictText } from "./verdict-words.ts";

interface Props {
  readonly suite: string;
  readonly of: CaseComparison;
  readonly metric: Metric;
  readonly isRaw: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** One case on one line. */
export function CaseCells({ suite, of, metric, isRaw, isOpen, onToggle }: Props) {
  const { words: _, sign, colour } = verdicts[of.verdict];
  const { section, benchmark } = of.case;
  return (
    <div className={`case-row ${colour}`}>
      <span role="rowheader" className="case-name">
        <Link
          to="/benchmarks/series"
          search={{ suite, case: caseKey(of.case), metric: metric.name }}
          title="Its history"
        >
          {benchmark}
        </Link>{" "}
        <span className="faint">
          {section === "compile" ? "" : `${section} · `}
          {caseWords(of.case)}
        </span>
        {of.warnings.length === 0 ? null : (
          <span className="case-warned" title={of.warnings.join("\n")}>
            {" "}
            ⚠<span className="visually-hidden"> with warnings</span>
          </span>
        )}
      </span>
      {isRaw ? (
        <span role="cell" className="number right">
          {valueText(of.before, metric.unit)}
        </span>
      ) : null}
      {isRaw ? (
        <span role="cell" className="number right">
          {valueText(of.after, metric.unit)}
        </span>
      ) : null}
      <span
        role="cell"
        className={`number right case-change${of.significant ? " is-significant" : ""}`}
        title={`${valueText(of.before, metric.unit)} → ${valueText(of.after, metric.unit)}`}
      >
        {changeText(statedChange(of))}
      </span>
      <span role="cell" className="case-evidence faint">
        {of.evidence.by === "pairs" ? <IntervalBar evidence={of.evidence} /> : null}
        <span className="ellipsis">{evidenceText(of)}</span>
      </span>
      <span role="cell" className="case-verdict">
        <span aria-hidden="true">{sign}</span> {verdictText(of)}
      </span>
      <span role="cell" className="right">
        <button
          type="button"
          className="quiet"
          aria-expanded={isOpen}
          aria-label={`More about ${benchmark} ${caseWords(of.case)}`}
          onClick={onToggle}
        >
          {isOpen ? "less" : "more"}
        </button>
      </span>
    </div>
  );
}
