import type { SizeClassKeyDetail, SizeClassPastRun } from "#api/size-class.ts";
import { bytesText } from "../../parts/bytes.ts";
import { durationText, wholeDurationText } from "../../parts/duration.ts";
import type { Scale } from "./plot-scale.ts";
import { endWords, RunMark } from "./run-mark.tsx";

type OfClass = SizeClassKeyDetail["classes"][number];

const width = 300;
const left = 46;
const right = 6;
const timeHeight = 130;
const memoryHeight = 60;
/** As many as are stored, so that the panels of all classes have one scale. */
const columns = 32;

/** The durations of a key's runs on one class, in order, with the estimate for the next; below, their memory. */
export function ClassPlot(props: {
  readonly of: OfClass;
  readonly times: Scale;
  /** Undefined when no memory was measured. */
  readonly memory: Scale | undefined;
}) {
  const { of, times, memory } = props;
  const { runs, sizeClass } = of;
  return (
    <figure className="class-plot">
      <figcaption>
        <strong>Size class {sizeClass}</strong> <span className="faint">{summaryOf(of)}</span>
      </figcaption>
      <svg
        viewBox={`0 -6 ${width} ${timeHeight + 12}`}
        role="img"
        aria-label={`Durations on size class ${sizeClass}: ${summaryOf(of)}. ${expectedOf(of)}`}
      >
        <Axis
          scale={times}
          height={timeHeight}
          text={(ms) => wholeDurationText(ms).replace(".0 ", " ")}
        />
        <Band of={of} times={times} />
        {runs.map((run, n) => (
          // Runs are only identified by their position.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <g key={n}>
            <title>{runWords(run)}</title>
            <RunMark end={run.end} x={xOf(n)} y={yOf(times, run.durationMs, timeHeight)} />
          </g>
        ))}
      </svg>
      {memory === undefined ? null : <p className="faint">Memory at most</p>}
      {memory === undefined ? null : (
        <svg
          viewBox={`0 -6 ${width} ${memoryHeight + 12}`}
          role="img"
          aria-label={`Memory on size class ${sizeClass}: ${memorySummary(runs)}`}
        >
          <Axis scale={memory} height={memoryHeight} text={bytesText} />
          {runs.map((run, n) =>
            run.peakMemoryBytes === null ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity but their place
              <g key={n}>
                <title>{runWords(run)}</title>
                <RunMark
                  end={run.end}
                  x={xOf(n)}
                  y={yOf(memory, run.peakMemoryBytes, memoryHeight)}
                />
              </g>
            ),
          )}
        </svg>
      )}
    </figure>
  );
}

function Axis(props: {
  readonly scale: Scale;
  readonly height: number;
  readonly text: (value: number) => string;
}) {
  return props.scale.ticks.map((tick) => {
    const y = yOf(props.scale, tick, props.height);
    return (
      <g key={tick} className="axis">
        <path d={`M${left} ${y}H${width - right}`} />
        <text x={left - 5} y={y + 3}>
          {props.text(tick)}
        </text>
      </g>
    );
  });
}

function Band({ of: { estimate }, times }: { readonly of: OfClass; readonly times: Scale }) {
  if (estimate === null || estimate.expectedMs === null) return null;
  const y = yOf(times, estimate.expectedMs, timeHeight);
  const { fastMs, slowMs } = estimate.band ?? {
    fastMs: estimate.expectedMs,
    slowMs: estimate.expectedMs,
  };
  const top = yOf(times, slowMs, timeHeight);
  const bottom = yOf(times, fastMs, timeHeight);
  return (
    <g>
      <title>{expectedOf({ estimate })}</title>
      <rect
        className="band"
        x={left}
        y={top}
        width={width - left - right}
        height={Math.max(1, bottom - top)}
      />
      <path className="expected" d={`M${left} ${y}H${width - right}`} />
    </g>
  );
}

function xOf(n: number): number {
  return left + 6 + (n / (columns - 1)) * (width - left - right - 12);
}

function yOf(scale: Scale, value: number, height: number): number {
  return height - scale.at(value) * height;
}

function summaryOf({ runs }: Pick<OfClass, "runs">): string {
  if (runs.length === 0) return "nothing remembered";
  const counts = Object.entries(endWords).flatMap(([end, words]) => {
    const count = runs.filter((run) => run.end === end).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  return counts.join(", ");
}

function expectedOf({ estimate }: Pick<OfClass, "estimate">): string {
  if (estimate === null || estimate.expectedMs === null) return "There is no estimate.";
  const band =
    estimate.band === null
      ? ""
      : `, between ${durationText(estimate.band.fastMs)} and ${durationText(estimate.band.slowMs)} with a probability of 80 %`;
  return `Expected: ${durationText(estimate.expectedMs)}${band}.`;
}

function memorySummary(runs: OfClass["runs"]): string {
  const peaks = runs.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []);
  if (peaks.length === 0) return "not measured";
  return `from ${bytesText(Math.min(...peaks))} to ${bytesText(Math.max(...peaks))}`;
}

function runWords({ at, cpuMs, durationMs, end, peakMemoryBytes, timeoutMs }: SizeClassPastRun) {
  return [
    `${endWords[end]}${end === "timed_out" ? ` at ${durationText(timeoutMs)}` : ` after ${durationText(durationMs)}`}`,
    cpuMs === null ? "" : `CPU ${durationText(cpuMs)}`,
    peakMemoryBytes === null ? "" : `memory ${bytesText(peakMemoryBytes)}`,
    new Date(at).toLocaleString(),
  ]
    .filter((part) => part !== "")
    .join(", ");
}
