import type { z } from "zod";
import type { PairsEvidence } from "#api/benchmark-comparison.ts";
import { changeText, percentText } from "../benchmarks/figure-text.ts";

const width = 96;
const height = 14;

/** Shows the interval of the change, relative to zero and to the limit of relevance. */
export function IntervalBar({ evidence }: { readonly evidence: z.infer<typeof PairsEvidence> }) {
  const { effect, high, limit, low } = evidence;
  // Symmetric, so that zero is always in the middle.
  const reach = Math.max(Math.abs(low), Math.abs(high), limit * 1.5, 1e-9) * 1.08;
  const x = (change: number) => width / 2 + (change / reach) * (width / 2);
  return (
    <svg
      className="interval-bar"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`Change ${changeText(effect)}, between ${changeText(low)} and ${changeText(high)}; changes below ${percentText(limit)} are irrelevant`}
    >
      <rect
        className="unimportant"
        x={x(-limit)}
        y={0}
        width={x(limit) - x(-limit)}
        height={height}
      />
      <path className="nought" d={`M${width / 2} 0V${height}`} />
      <path className="interval" d={`M${x(low)} 7H${x(high)}M${x(low)} 4V10M${x(high)} 4V10`} />
      <circle className="effect" cx={x(effect)} cy={7} r={2.6} />
    </svg>
  );
}
