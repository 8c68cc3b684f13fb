import type { SizeClassPastRun } from "#api/size-class.ts";

type End = SizeClassPastRun["end"];

export const endWords: Readonly<Record<End, string>> = {
  succeeded: "succeeded",
  failed: "failed",
  timed_out: "timed out",
  out_of_memory: "out of memory",
};
const ends = Object.keys(endWords) as End[];

const colours: Readonly<Record<End, string>> = {
  succeeded: "is-succeeded",
  failed: "is-failed",
  timed_out: "is-queued",
  out_of_memory: "is-unreachable",
};

/** A mark for a run, by its end: each end has its own shape, so that colours are not needed. */
export function RunMark({
  end,
  x,
  y,
}: {
  readonly end: End;
  readonly x: number;
  readonly y: number;
}) {
  return (
    <g className={`mark ${colours[end]}`} transform={`translate(${x} ${y})`}>
      {shapeOf(end)}
    </g>
  );
}

function shapeOf(end: End) {
  switch (end) {
    case "succeeded":
      return <circle r={3.2} className="solid" />;
    case "failed":
      return <path d="M-3 -3L3 3M-3 3L3 -3" className="stroke" />;
    case "timed_out":
      return <path d="M0 -4L4 0L0 4L-4 0Z" className="hollow" />;
    case "out_of_memory":
      return <rect x={-3} y={-3} width={6} height={6} className="solid" />;
  }
}

/** Explains the shapes. */
export function MarkLegend() {
  return (
    <ul className="mark-legend">
      {ends.map((end) => (
        <li key={end}>
          <svg viewBox="-6 -6 12 12" aria-hidden="true">
            <RunMark end={end} x={0} y={0} />
          </svg>
          {endWords[end]}
        </li>
      ))}
      <li>
        <svg viewBox="-6 -6 12 12" aria-hidden="true">
          <rect className="band" x={-6} y={-4} width={12} height={8} />
          <path className="expected" d="M-6 0H6" />
        </svg>
        expected; 80 % of runs are within the band
      </li>
    </ul>
  );
}
