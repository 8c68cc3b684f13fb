import type { GranaryBuildReport } from "#api/granary.ts";
import { durationText } from "../../parts/duration.ts";
import { sources } from "../granary/words.ts";
import { type Slice, slicesOf } from "./demand.ts";

const count = 60;
const barWidth = 12;
const gap = 1;
const width = count * (barWidth + gap) - gap;
const lineHeight = 70;
const barHeight = 50;
const between = 8;

/** The build's time: requests by source below; demand against arrival above. */
export function DemandPlot({ build }: { readonly build: GranaryBuildReport }) {
  const lengthMs = Date.parse(build.endedAt) - Date.parse(build.startedAt);
  const slices = slicesOf(build.asked, lengthMs, count);
  const last = slices.at(-1);
  if (last === undefined || build.asked.length === 0) return null;
  const most = Math.max(1, ...slices.map(({ asked }) => sumOf(asked)));
  const came = Math.max(1, last.demanded);
  const behind = slices.filter(({ demanded, arrived }) => demanded > arrived).length;
  const label = `Demand against arrival over ${durationText(last.toMs)}: ${
    last.demanded === 0
      ? "nothing was transferred"
      : behind === 0
        ? "the transfer was ahead of the build all the time"
        : `the build waited for the transfer in ${behind} of ${count} parts of its time`
  }`;
  const xOf = (n: number) => n * (barWidth + gap);
  const line = (of: (slice: Slice) => number) =>
    `M 0 ${lineHeight} ${slices
      .map(
        (slice, n) =>
          `L ${xOf(n) + barWidth} ${lineHeight - (of(slice) / came) * (lineHeight - 4)}`,
      )
      .join(" ")}`;
  const ground = lineHeight + between + barHeight;
  return (
    <figure className="demand">
      <svg viewBox={`0 0 ${width} ${ground + 14}`} role="img" aria-label={label}>
        <path className="arrived" d={`${line(({ arrived }) => arrived)} V ${lineHeight} Z`} />
        <path className="demanded" d={line(({ demanded }) => demanded)} />
        {slices.map((slice, n) => {
          let y = ground;
          return (
            <g key={slice.fromMs}>
              <title>
                {`${durationText(slice.fromMs)}: ${sources.map((source) => `${slice.asked[source]} ${source}`).join(", ")}`}
              </title>
              <rect
                className="day-ground"
                x={xOf(n)}
                y={ground - barHeight}
                width={barWidth}
                height={barHeight}
              />
              {sources.map((source) => {
                const part = (slice.asked[source] / most) * barHeight;
                y -= part;
                return part === 0 ? null : (
                  <rect
                    key={source}
                    className={`of-${source}`}
                    x={xOf(n)}
                    y={y}
                    width={barWidth}
                    height={part}
                  />
                );
              })}
              {n % 15 === 0 ? (
                <text x={xOf(n)} y={ground + 11}>
                  {durationText(slice.fromMs)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
      <figcaption className="faint">
        Upper chart: transferred results. The area shows results that arrived, the line shows
        results that were requested. Where the line is above the area, the build waited. Lower
        chart: all requests.
        {build.truncated.includes("asked")
          ? " The report was too long and was cut. It contains all misses and late results first, then the first hits."
          : ""}
      </figcaption>
    </figure>
  );
}

function sumOf(asked: Slice["asked"]): number {
  return sources.reduce((sum, source) => sum + asked[source], 0);
}
