import type { SavingsOfDay } from "#api/granary.ts";
import { bytesText } from "../../parts/bytes.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { countText, shareText } from "./words.ts";

const height = 80;
const barWidth = 16;
const gap = 4;
/** The label of a day is wider than its bar. */
const leastWidth = 2 * barWidth + gap;

/** The requests of builds, one bar per day; the same as a table for users who do not see it. */
export function SavingsChart({ days }: { readonly days: readonly SavingsOfDay[] }) {
  const most = Math.max(1, ...days.map(({ asked }) => asked));
  const width = Math.max(leastWidth, days.length * (barWidth + gap) - gap);
  const hits = days.reduce((sum, day) => sum + day.hits, 0);
  const asked = days.reduce((sum, day) => sum + day.asked, 0);
  const label = `Requests of builds in ${countText(days.length, "day")}: ${shareText(hits, asked)} of ${numberText(asked)} results were hits`;
  return (
    <figure className="savings">
      <svg
        viewBox={`0 0 ${width} ${height + 14}`}
        style={{ maxWidth: `${width * 1.6}px` }}
        role="img"
        aria-label={label}
      >
        {days.map((day, n) => (
          <DayBar
            key={day.day}
            day={day}
            x={n * (barWidth + gap)}
            most={most}
            isNamed={n % 7 === 0}
          />
        ))}
      </svg>
      <details>
        <summary>As a table</summary>
        <DaysTable days={days} />
      </details>
    </figure>
  );
}

function DayBar(props: {
  readonly day: SavingsOfDay;
  readonly x: number;
  readonly most: number;
  readonly isNamed: boolean;
}) {
  const { day, x, most, isNamed } = props;
  const tall = (count: number) => (count / most) * height;
  const parts = [
    ["of-prefetched", day.prefetched],
    ["of-local", day.hits - day.prefetched],
    ["of-missed", day.asked - day.hits],
  ] as const;
  let y = height;
  return (
    <g>
      <title>
        {`${day.day}: ${countText(day.builds, "build")}, ${shareText(day.hits, day.asked)} hits, saved ${durationText(day.savedMs)} of work`}
      </title>
      <rect className="day-ground" x={x} y={0} width={barWidth} height={height} />
      {parts.map(([className, count]) => {
        const part = tall(Math.max(0, count));
        y -= part;
        return (
          <rect key={className} className={className} x={x} y={y} width={barWidth} height={part} />
        );
      })}
      {isNamed ? (
        <text x={x} y={height + 11}>
          {day.day.slice(5)}
        </text>
      ) : null}
    </g>
  );
}

function DaysTable({ days }: { readonly days: readonly SavingsOfDay[] }) {
  return (
    <ScrollableTable label="Days">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Builds</th>
            <th scope="col">Requests</th>
            <th scope="col">Hits</th>
            <th scope="col">Fetched in time</th>
            <th scope="col">Work saved</th>
            <th scope="col">Waited</th>
            <th scope="col">Bytes prefetched</th>
            <th scope="col">Bytes not used</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{numberText(day.builds)}</td>
              <td>{numberText(day.asked)}</td>
              <td>{shareText(day.hits, day.asked)}</td>
              <td>{shareText(day.prefetched, day.hits)}</td>
              <td>{durationText(day.savedMs)}</td>
              <td>{durationText(day.waitedMs)}</td>
              <td>{bytesText(day.transferredBytes)}</td>
              <td>{shareText(day.wastedBytes, day.transferredBytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}
