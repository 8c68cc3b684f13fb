import "./period-bars.css";

/** One period of a small chart. */
interface PeriodBar {
  /** Unique among the bars. */
  readonly key: string;
  /** From 0 to 1; null when there is nothing to show. */
  readonly height: number | null;
  /** What the pointer shows. */
  readonly title: string;
}

const barWidth = 8;
const gap = 2;
const height = 28;
const least = 1.5;

/**
 * A small chart with a bar for each period. It has one sentence for screen readers: the page beside it has the values
 * as a table.
 */
export function PeriodBars(props: {
  readonly bars: readonly PeriodBar[];
  readonly label: string;
  /** Failures have another colour. */
  readonly kind: "good" | "bad" | "plain";
}) {
  const { bars, label, kind } = props;
  const width = Math.max(barWidth, bars.length * (barWidth + gap) - gap);
  return (
    <svg
      className={`period-bars is-${kind}`}
      viewBox={`0 0 ${width} ${height}`}
      style={{ maxWidth: `${width * 1.5}px` }}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map(({ key, height: share, title }, n) => {
        const x = n * (barWidth + gap);
        const tall = share === null ? 0 : Math.max(least, Math.min(1, share) * height);
        return (
          <g key={key}>
            <title>{title}</title>
            <rect className="ground" x={x} y={0} width={barWidth} height={height} />
            <rect className="bar" x={x} y={height - tall} width={barWidth} height={tall} />
          </g>
        );
      })}
    </svg>
  );
}
