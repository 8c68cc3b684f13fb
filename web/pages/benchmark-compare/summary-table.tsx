import type { z } from "zod";
import type { Comparison, Direction, MetricSummary, Tally } from "#api/benchmark-comparison.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { changeText } from "../benchmarks/figure-text.ts";

type TallyOf = z.infer<typeof Tally>;

const directions: Readonly<Record<z.infer<typeof Direction>, readonly [string, string]>> = {
  none: ["no relevant change", "faint"],
  regression: ["✗ regression", "is-failed"],
  improvement: ["✓ improvement", "is-succeeded"],
  mixed: ["± mixed", "is-queued"],
};

/** The result of each metric; the selected one is shown in detail. */
export function SummaryTable(props: {
  readonly comparison: Comparison;
  readonly onMetric: (name: string) => void;
}) {
  const { metric, summaries } = props.comparison;
  const chosen = summaries.find((each) => each.metric === metric);
  return (
    <section aria-label="Summary">
      <h2>Summary</h2>
      {summaries.length === 0 ? (
        <p className="faint">There are no figures of both artifacts.</p>
      ) : (
        <SummaryRows summaries={summaries} chosen={metric} onChoose={props.onMetric} />
      )}
      {chosen === undefined || !hasTallies(chosen) ? null : <Tallies of={chosen} />}
    </section>
  );
}

export function SummaryRows(props: {
  readonly summaries: readonly MetricSummary[];
  readonly chosen?: string;
  readonly onChoose?: (name: string) => void;
}) {
  const { chosen, onChoose, summaries } = props;
  return (
    <ScrollableTable label="Summary of metrics">
      <table className="figures metric-summary">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">Verdict</th>
            <th scope="col">Regressed</th>
            <th scope="col">Improved</th>
            <th scope="col">Undecided</th>
            <th
              scope="col"
              title="The sum of all figures after the change, divided by the sum of all figures before it"
            >
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {summaries.map((each) => (
            <MetricLine
              key={each.metric}
              of={each}
              isChosen={each.metric === chosen}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function MetricLine(props: {
  readonly of: MetricSummary;
  readonly isChosen: boolean;
  readonly onChoose: ((name: string) => void) | undefined;
}) {
  const { of, isChosen, onChoose } = props;
  const [words, colour] = directions[of.direction];
  return (
    <tr className={isChosen ? "is-chosen" : ""}>
      <th scope="row">
        {onChoose === undefined ? (
          of.metric
        ) : (
          <button type="button" aria-pressed={isChosen} onClick={() => onChoose(of.metric)}>
            {of.metric}
          </button>
        )}
      </th>
      <td>
        <span className={`badge ${colour}`}>{words}</span>
        {of.deservesAttention ? <span className="faint"> deserves attention</span> : null}
      </td>
      <td>{countsText(of, "regressions")}</td>
      <td>{countsText(of, "improvements")}</td>
      <td>
        {of.undecided}
        {(of.hints ?? 0) === 0 ? "" : ` + ${of.hints} without pairs`}
        {of.unlikeMachines === 0 ? "" : ` + ${of.unlikeMachines} on different machines`}
      </td>
      <td>{of.accumulated === null ? "–" : changeText(of.accumulated)}</td>
    </tr>
  );
}

function countsText(of: MetricSummary, kind: "regressions" | "improvements"): string {
  const secondary = of.secondary[kind].count;
  return `${of.primary[kind].count}${secondary === 0 ? "" : ` + ${secondary} secondary`}`;
}

const rows = [
  ["regressions", "Regressed"],
  ["improvements", "Improved"],
  ["all", "All relevant changes"],
] as const;

const hasTallies = ({ primary, secondary }: MetricSummary) =>
  primary.all.count + secondary.all.count > 0;

function Tallies({ of }: { readonly of: MetricSummary }) {
  return (
    <ScrollableTable label={`Means of ${of.metric}`}>
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">{of.metric}</th>
            <th scope="col">Count</th>
            <th scope="col">Benchmarks</th>
            <th scope="col">Arithmetic mean</th>
            <th scope="col">Geometric mean</th>
            <th scope="col">Range</th>
          </tr>
        </thead>
        <tbody>
          {(["primary", "secondary"] as const).flatMap((category) =>
            rows.map(([key, words]) => (
              <TallyLine
                key={`${category} ${key}`}
                name={`${words}, ${category}`}
                of={of[category][key]}
              />
            )),
          )}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function TallyLine({ name, of }: { readonly name: string; readonly of: TallyOf }) {
  if (of.count === 0) return null;
  const text = (change: number | null) => (change === null ? "–" : changeText(change));
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{of.count}</td>
      <td>{of.benchmarks}</td>
      <td>{text(of.arithmeticMean)}</td>
      <td>{text(of.geometricMean)}</td>
      <td>
        {text(of.least)} … {text(of.most)}
      </td>
    </tr>
  );
}
