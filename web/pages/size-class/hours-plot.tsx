import type { SizeClassDetail } from "#api/size-class.ts";
import { costText } from "../../parts/cost.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

const height = 90;
const barWidth = 10;
const gap = 3;
const hourSeconds = 3_600;

/** Busy seconds of slots, one bar per hour; the same as a table for users who do not see them. */
export function HoursPlot(props: {
  readonly hours: SizeClassDetail["hours"];
  readonly slots: number;
}) {
  const { hours, slots } = props;
  const most = Math.max(...hours.map(({ busySeconds }) => busySeconds), 1);
  const all = hours.reduce((sum, { busySeconds }) => sum + busySeconds, 0);
  const width = hours.length * (barWidth + gap) - gap;
  const full = slots * hourSeconds;
  const label =
    all === 0
      ? "Nothing ran here in the last 24 hours"
      : `Busy for ${durationText(all * 1_000)} in the last 24 hours, at most ${durationText(most * 1_000)} in one hour`;
  return (
    <figure className="hours">
      <svg viewBox={`0 0 ${width} ${height + 14}`} role="img" aria-label={label}>
        {hours.map(({ busySeconds, from, runs }, n) => {
          const tall = busySeconds === 0 ? 0 : Math.max(2, (busySeconds / most) * height);
          return (
            <g key={from}>
              <title>{`${clock(from)}: ${runs} runs, ${durationText(busySeconds * 1_000)}`}</title>
              <rect
                className="hour-ground"
                x={n * (barWidth + gap)}
                y={0}
                width={barWidth}
                height={height}
              />
              <rect
                className="hour-bar"
                x={n * (barWidth + gap)}
                y={height - tall}
                width={barWidth}
                height={tall}
                rx={1.5}
              />
              {n % 6 === 0 ? (
                <text x={n * (barWidth + gap)} y={height + 11}>
                  {clock(from)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
      <figcaption className="faint">
        {all === 0
          ? "Nothing ran here in the last 24 hours."
          : `The highest bar is ${durationText(most * 1_000)}${
              full === 0 ? "" : `, ${Math.round((most / full) * 100)} % of the current slots`
            }.`}
      </figcaption>
      <details>
        <summary>As a table</summary>
        <ScrollableTable label="Hours">
          <table className="figures">
            <thead>
              <tr>
                <th scope="col">Hour</th>
                <th scope="col">Runs</th>
                <th scope="col">Busy</th>
                <th scope="col">Cost</th>
              </tr>
            </thead>
            <tbody>
              {hours.map((each) => (
                <tr key={each.from}>
                  <th scope="row">{clock(each.from)}</th>
                  <td>{numberText(each.runs)}</td>
                  <td>{durationText(each.busySeconds * 1_000)}</td>
                  <td>{costText(each.cost)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollableTable>
      </details>
    </figure>
  );
}

/** In the reader's own time. */
function clock(time: string): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}
