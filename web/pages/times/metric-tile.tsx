import type { MetricDefinition, MetricValue } from "#api/times.ts";
import { durationText, wholeDurationText } from "../../parts/duration.ts";
import { tileState } from "./goal-tile.tsx";
import { percentText } from "./percent-text.ts";

/** The metric of record, by which the farm is evaluated. A setting selects it. */
export function MetricTile({ record }: { readonly record: MetricValue }) {
  const { metric, value, count, goalMet } = record;
  return (
    <section className={`card tile ${tileState(goalMet)}`}>
      <h2>
        {metric.name} <span className="faint">the main metric of the farm</span>
      </h2>
      <p className="figure number">{value === null ? "–" : valueText(metric, value)}</p>
      <p className="faint">
        {figureText(metric)}
        {metric.filter === "" ? "" : ` of ${metric.filter}`} ·{" "}
        <span className="number">{count.toLocaleString()}</span> measured over{" "}
        {wholeDurationText(metric.windowSeconds * 1_000)}. Choose another metric with{" "}
        <code>grange metric record NAME</code>.
      </p>
    </section>
  );
}

function valueText({ figure }: MetricDefinition, value: number): string {
  switch (figure.kind) {
    case "percentile":
      return durationText(value);
    case "share":
      return percentText(value);
  }
}

function figureText({ measure, figure }: MetricDefinition): string {
  switch (figure.kind) {
    case "percentile":
      return `percentile ${figure.percentile} of ${measure}`;
    case "share": {
      const goal = figure.goal === null ? "" : `, goal ${percentText(figure.goal)}`;
      return `${measure} within ${wholeDurationText(figure.withinSeconds * 1_000)}${goal}`;
    }
  }
}
