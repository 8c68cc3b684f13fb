import { expect, test } from "vitest";
import { metricsText } from "./metrics-text.ts";

test("a gauge has a line for each sample, a histogram one for each bucket", () => {
  const text = metricsText(
    [
      {
        kind: "gauge",
        name: "grange_jobs",
        help: "Jobs of graphs under way.",
        samples: [{ labels: { state: "ready" }, value: 3 }, { value: Number.NaN }],
      },
      {
        kind: "histogram",
        name: "grange_wait_seconds",
        help: "Waiting.",
        buckets: [
          { upTo: 0.5, count: 1 },
          { upTo: 900, count: 4 },
        ],
        count: 5,
        sum: 1_234.5,
      },
    ],
    "# EOF\n",
  );

  expect(text.split("\n")).toEqual([
    "# HELP grange_jobs Jobs of graphs under way.",
    "# TYPE grange_jobs gauge",
    'grange_jobs{state="ready"} 3',
    "grange_jobs NaN",
    "# HELP grange_wait_seconds Waiting.",
    "# TYPE grange_wait_seconds histogram",
    'grange_wait_seconds_bucket{le="0.5"} 1',
    'grange_wait_seconds_bucket{le="900"} 4',
    'grange_wait_seconds_bucket{le="+Inf"} 5',
    "grange_wait_seconds_sum 1234.5",
    "grange_wait_seconds_count 5",
    "# EOF",
    "",
  ]);
});

test("what people named cannot end a line, or a label", () => {
  const help = 'a "quoted" \\ help\nof two lines';
  const text = metricsText(
    [{ kind: "gauge", name: "x", help, samples: [{ labels: { branch: help }, value: 1 }] }],
    "",
  );

  expect(text).toBe(
    '# HELP x a "quoted" \\\\ help\\nof two lines\n# TYPE x gauge\n' +
      'x{branch="a \\"quoted\\" \\\\ help\\nof two lines"} 1\n',
  );
});
