import { describe, expect, test } from "vitest";
import { defaultSettings } from "#size-classes/settings.ts";
import { chooserNamed } from "./choosers.ts";
import { compare } from "./compare.ts";
import { figuresOf } from "./figures.ts";
import { comparisonSvg } from "./plots/comparison-svg.ts";
import { simulate } from "./simulate.ts";
import { aHeader, anExecution, GiB } from "./trace.fixture.ts";

const smallest = chooserNamed("smallest", defaultSettings);
/** A strategy that accepts the result of the first run. */
const once = { ...smallest, afterwards: () => ({ kind: "final" }) as const };

describe("figures", () => {
  test("count failures that the largest class would not have had", () => {
    const executions = [
      anExecution({ peakMemoryBytes: 2 * GiB }),
      anExecution({ failsAt: 1 }),
      anExecution({ peakMemoryBytes: 99 * GiB }),
      anExecution(),
    ];
    const trace = { header: aHeader(), executions };

    const careless = figuresOf(trace, simulate(trace, once, 1), 1);
    const careful = figuresOf(trace, simulate(trace, smallest, 1), 1);

    expect(careless).toMatchObject({ failures: 3, falseFailures: 1, retries: 0 });
    expect(careful).toMatchObject({ failures: 2, falseFailures: 0, retries: 3 });
  });

  test("do not count flaky and lost runs against a strategy", () => {
    const executions = Array.from({ length: 200 }, () => anExecution({ flakyRate: 0.3 }));
    const trace = { header: aHeader({ lostRate: 0.3 }), executions };

    const figures = figuresOf(trace, simulate(trace, once, 5), 5);

    expect(figures.failures).toBeGreaterThan(20);
    expect(figures.falseFailures).toBe(0);
  });

  test("report separately executions whose action had run ten times", () => {
    const executions = Array.from({ length: 15 }, (_, i) =>
      anExecution({ at: i * 10_000, serialMs: i < 10 ? 9_000 : 1_000 }),
    );
    const trace = { header: aHeader(), executions };

    const { afterTen, busyCost, latencyMs } = figuresOf(trace, simulate(trace, smallest, 1), 1, 2);

    expect(busyCost).toBe(95);
    expect(latencyMs).toMatchObject({ p50: 9_000, p95: 9_000, p99: 9_000 });
    expect(afterTen).toMatchObject({ executions: 5, busyCost: 5, objective: 15 });
  });

  test("count as slow what exceeds the acceptable time of the original design", () => {
    // 20 s on class 4 alone; acceptable on class 1: 20 s × (4 / 1)^0.5 = 40 s.
    const slow = anExecution({ serialMs: 10_000, parallelMs: 40_000, width: 4 });
    const well = anExecution({ serialMs: 18_000, parallelMs: 8_000, width: 4 });
    const trace = { header: aHeader(), executions: [slow, well] };

    expect(figuresOf(trace, simulate(trace, smallest, 1), 1).slowerThanAcceptable).toBe(1);
  });
});

test("a comparison is drawn as one self-contained picture", () => {
  const trace = {
    header: aHeader({ name: `<script>"&\u0000` }),
    executions: [anExecution(), anExecution({ at: 100 })],
  };
  const comparison = compare(trace, ["smallest", "largest", "oracle"], { seed: 1 });

  const svg = comparisonSvg(comparison);

  expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect(svg).toContain("&lt;script&gt;&quot;&amp;");
  expect(svg).not.toContain("<script");
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  expect(svg).toContain("prefers-color-scheme: dark");
  const opened = [...svg.matchAll(/<([a-z]+)[^>]*[^/]>/g)].length;
  expect([...svg.matchAll(/<\/[a-z]+>/g)]).toHaveLength(opened);
  expect(svg).toBe(comparisonSvg(comparison));
});
