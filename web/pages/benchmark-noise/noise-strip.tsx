import type { MetricNoise } from "#api/benchmark-noise.ts";
import { percentText } from "../benchmarks/figure-text.ts";
import { limitText } from "./noise-words.ts";

const width = 260;
const left = 4;
const right = width - 4;

/** All observed noise of a metric on one scale, with the limit: runs above, self-tests below. */
export function NoiseStrip({ of }: { readonly of: MetricNoise }) {
  const runs = of.runs.map(({ scatter }) => scatter);
  const tests = of.selfTests.map(({ change }) => change);
  const most = Math.max(of.limit, ...runs, ...tests) * 1.05;
  if (most === 0) return <span className="faint">none seen</span>;
  const x = (part: number) => (left + (part / most) * (right - left)).toFixed(1);
  const dots = (parts: readonly number[], y: number) =>
    parts.map((part) => `M${x(part)} ${y}h0`).join("");
  return (
    <svg
      className="noise-strip"
      viewBox={`0 0 ${width} 34`}
      role="img"
      aria-label={`${of.metric.name}: runs of ${runs.length} artifacts and ${tests.length} self-tests between 0 and ${percentText(most)}; the limit is ${limitText(of)}`}
    >
      <path className="noise-axis" d={`M${left} 10H${right}M${left} 24H${right}`} />
      <path className="noise-runs" d={dots(runs, 10)} />
      <path className="noise-tests" d={dots(tests, 24)} />
      {of.from === "exact" ? null : (
        <path className="noise-limit" d={`M${x(of.limit)} 1V33`}>
          <title>{`limit ${limitText(of)}`}</title>
        </path>
      )}
    </svg>
  );
}
