import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Metric } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";
import { SuiteWord } from "#core/test-case.ts";
import { suiteWordOf } from "./imported-case.ts";
import { type BenchmarkTool, parseToolOutput } from "./parse-tool-output.ts";

const tools = [
  "hyperfine",
  "criterion",
  "google-benchmark",
  "pytest-benchmark",
  "go-bench",
  "vitest",
  "tinybench",
  "jmh",
] as const satisfies readonly BenchmarkTool[];

const json = (value: unknown) => JSON.stringify(value);
const read = (tool: BenchmarkTool, text: string) =>
  parseToolOutput(tool, text).map(({ original, iterations }) => ({ original, iterations }));

describe("the output of each tool is parsed", () => {
  test("hyperfine", () => {
    const text = json({
      results: [
        {
          command: "sleep 0.1",
          mean: 0.1005,
          stddev: 0.0007,
          user: 0.001,
          system: 0.001,
          times: [0.1, 0.101],
          memory_usage_byte: [1_000, 2_000],
          exit_codes: [0, 0],
        },
        { command: "true", times: [0.002] },
      ],
    });

    expect(read("hyperfine", text)).toEqual([
      {
        original: "sleep 0.1",
        iterations: [
          { "wall-time": 0.1, "max-rss": 1_000 },
          { "wall-time": 0.101, "max-rss": 2_000 },
        ],
      },
      { original: "true", iterations: [{ "wall-time": 0.002 }] },
    ]);
  });

  test("cargo criterion's messages", () => {
    const text = [
      json({ reason: "group-start", group_name: "g" }),
      json({
        reason: "benchmark-complete",
        id: "g/fib 20",
        iteration_count: [10, 20],
        measured_values: [20_000, 44_000],
        unit: "ns",
        typical: { estimate: 2_100, lower_bound: 2_000, upper_bound: 2_200, unit: "ns" },
      }),
      json({ reason: "group-complete", group_name: "g", benchmarks: ["g/fib 20"] }),
    ].join("\n");

    const [first] = read("criterion", text);

    expect(first?.original).toBe("g/fib 20");
    expect(first?.iterations.map((each) => each["wall-time"])).toEqual([
      expect.closeTo(2e-6, 15),
      expect.closeTo(2.2e-6, 15),
    ]);
  });

  test("criterion's estimates, one or several", () => {
    const estimate = (point_estimate: number) => ({
      confidence_interval: { confidence_level: 0.95, lower_bound: 1, upper_bound: 2 },
      point_estimate,
      standard_error: 1,
    });
    const one = { mean: estimate(1_500), median: estimate(1_400), slope: null };

    expect(read("criterion", json(one))[0]?.iterations[0]?.["wall-time"]).toBeCloseTo(1.5e-6, 15);
    expect(
      read("criterion", json({ a: one, b: { ...one, slope: estimate(1_000) } })).map((each) => [
        each.original,
        each.iterations[0]?.["wall-time"],
      ]),
    ).toEqual([
      ["a", expect.closeTo(1.5e-6, 15)],
      ["b", expect.closeTo(1e-6, 15)],
    ]);
  });

  test("Google Benchmark, its aggregates left out", () => {
    const run = { run_name: "BM_Copy/8", time_unit: "us", cpu_time: 2, iterations: 100 };
    const text = json({
      context: { num_cpus: 8 },
      benchmarks: [
        { ...run, name: "BM_Copy/8", run_type: "iteration", real_time: 3, bytes_per_second: 5e9 },
        { ...run, name: "BM_Copy/8", run_type: "iteration", real_time: 4 },
        {
          ...run,
          name: "BM_Copy/8_mean",
          run_type: "aggregate",
          aggregate_name: "mean",
          real_time: 3.5,
        },
      ],
    });

    const [first, ...others] = read("google-benchmark", text);

    expect(others).toEqual([]);
    expect(first?.iterations).toEqual([
      {
        "wall-time": expect.closeTo(3e-6, 15),
        "cpu-time": expect.closeTo(2e-6, 15),
        "bytes-per-second": 5e9,
      },
      { "wall-time": expect.closeTo(4e-6, 15), "cpu-time": expect.closeTo(2e-6, 15) },
    ]);
  });

  test("pytest-benchmark, with its data and without", () => {
    const text = json({
      benchmarks: [
        { name: "test_a", fullname: "t.py::test_a", stats: { min: 0.1, data: [0.2, 0.1] } },
        { name: "test_b", fullname: "t.py::test_b[1-2]", stats: { min: 0.3, max: 0.4 } },
      ],
    });

    expect(read("pytest-benchmark", text)).toEqual([
      { original: "t.py::test_a", iterations: [{ "wall-time": 0.2 }, { "wall-time": 0.1 }] },
      { original: "t.py::test_b[1-2]", iterations: [{ "wall-time": 0.3 }] },
    ]);
  });

  test("go test -bench, with counts, allocations and lines of its own", () => {
    const text = [
      "goos: linux",
      "pkg: example.com/codec",
      "BenchmarkEncode/size=10-8 \t 1000000\t      1042 ns/op\t  96.5 MB/s\t      16 B/op\t       1 allocs/op",
      "BenchmarkEncode/size=10-8 \t 1000000\t      1000 ns/op\t 3.5 widgets/op",
      "    codec_test.go:12: Benchmarking",
      "BenchmarkSilent-8",
      "PASS",
      "ok  \texample.com/codec\t2.1s",
    ].join("\n");

    expect(read("go-bench", text)).toEqual([
      {
        original: "example.com/codec.BenchmarkEncode/size=10-8",
        iterations: [
          {
            "wall-time": expect.closeTo(1.042e-6, 15),
            "bytes-per-second": 96.5e6,
            "allocated-bytes": 16,
            allocations: 1,
          },
          { "wall-time": expect.closeTo(1e-6, 15) },
        ],
      },
    ]);
  });

  test("vitest bench, with samples and without", () => {
    const text = json({
      files: [
        {
          filepath: "/x/sort.bench.ts",
          groups: [
            {
              fullName: "sort.bench.ts > sort",
              benchmarks: [
                { id: "1", name: "quick", min: 1, hz: 900, samples: [1.5, 1] },
                { id: "2", name: "slow", min: 4, hz: 200, samples: [] },
                { id: "3", name: "never", samples: [] },
              ],
            },
          ],
        },
      ],
    });

    expect(read("vitest", text)).toEqual([
      {
        original: "sort.bench.ts > sort > quick",
        iterations: [{ "wall-time": 0.0015 }, { "wall-time": 0.001 }],
      },
      { original: "sort.bench.ts > sort > slow", iterations: [{ "wall-time": 0.004 }] },
    ]);
  });

  test("tinybench's tables, of now and of before", () => {
    const text = json([
      {
        "Task name": "new",
        "Latency avg (ns)": "1,300.5 ± 0.3%",
        "Latency med (ns)": "1,250.0 ± 8",
        Samples: 99,
      },
      null,
      { "Task Name": "old", "ops/sec": "12,345", "Average Time (ns)": 81_000.5, Margin: "±1%" },
    ]);

    expect(read("tinybench", text)).toEqual([
      { original: "new", iterations: [{ "wall-time": expect.closeTo(1.25e-6, 15) }] },
      { original: "old", iterations: [{ "wall-time": expect.closeTo(81_000.5e-9, 15) }] },
    ]);
  });

  test("JMH, times and throughputs, with parameters", () => {
    const metric = { scoreError: "NaN", scorePercentiles: {} };
    const text = json([
      {
        benchmark: "org.x.Sort.quick",
        mode: "avgt",
        params: { size: "10" },
        primaryMetric: { ...metric, score: 2.5, scoreUnit: "us/op", rawData: [[2, 3], [2.5]] },
        secondaryMetrics: {},
      },
      {
        benchmark: "org.x.Sort.quick",
        mode: "thrpt",
        primaryMetric: { ...metric, score: 7, scoreUnit: "ops/ms" },
      },
    ]);

    expect(read("jmh", text)).toEqual([
      {
        original: "org.x.Sort.quick:size=10:avgt",
        iterations: [2e-6, 3e-6, 2.5e-6].map((time) => ({ "wall-time": expect.closeTo(time, 15) })),
      },
      {
        original: "org.x.Sort.quick:thrpt",
        iterations: [{ throughput: expect.closeTo(7_000, 6) }],
      },
    ]);
    expect(parseToolOutput("jmh", text)[1]?.metrics).toMatchObject([
      { name: "throughput", better: "higher" },
    ]);
  });
});

describe("invalid output", () => {
  test.each([
    { tool: "hyperfine", text: "{", says: "no JSON" },
    {
      tool: "hyperfine",
      text: '{"results":[{"command":"x","times":[1,"2"]}]}',
      says: ".results[0].times[1]",
    },
    { tool: "hyperfine", text: '{"results":[{"command":"x","times":[-1]}]}', says: "-1" },
    { tool: "hyperfine", text: '{"results":[]}', says: "no benchmark in it" },
    {
      tool: "criterion",
      text: '{"reason":"benchmark-complete","id":"a"}\n',
      says: "line 1.iteration_count",
    },
    { tool: "criterion", text: '{"reason":"x"}\nnot json', says: "line 2" },
    {
      tool: "google-benchmark",
      text: '{"benchmarks":[{"name":"a","real_time":1,"time_unit":"eons"}]}',
      says: "eons",
    },
    {
      tool: "google-benchmark",
      text: '{"benchmarks":[{"name":"a","error_occurred":true,"error_message":"boom"}]}',
      says: "boom",
    },
    { tool: "go-bench", text: "BenchmarkX-8 10 abc ns/op", says: "line 1" },
    { tool: "go-bench", text: "", says: "no benchmark in it" },
    { tool: "tinybench", text: '[{"Task name":"a","Latency avg (ns)":"fast"}]', says: "fast" },
    { tool: "tinybench", text: '[{"Task name":"a"}]', says: "no column of latencies" },
    {
      tool: "jmh",
      text: '[{"benchmark":"a","mode":"avgt","primaryMetric":{"score":1,"scoreUnit":"x/y"}}]',
      says: "x/y",
    },
  ] as const)("$tool: $says", ({ tool, text, says }) => {
    expect(() => parseToolOutput(tool, text)).toThrow(says);
  });

  test("of any form is refused with a Fault", () => {
    fc.assert(
      fc.property(fc.constantFrom(...tools), fc.oneof(fc.string(), fc.json()), (tool, text) => {
        const outcome = (() => {
          try {
            return parseToolOutput(tool, text).length > 0;
          } catch (reason) {
            return reason instanceof Fault && reason.code === "invalid_argument";
          }
        })();
        expect(outcome).toBe(true);
      }),
    );
  });

  test.each(tools)("of %s with deep nesting and unusual keys does no harm", (tool) => {
    expect(() => parseToolOutput(tool, "[".repeat(100_000))).toThrow(Fault);
    expect(() => parseToolOutput(tool, '{"__proto__":{"results":[]},"constructor":1}')).toThrow(
      Fault,
    );
  });

  test("with very many samples is thinned, and with very many benchmarks is refused", () => {
    const text = json({
      results: [{ command: "x", times: Array.from({ length: 100_000 }, () => 1) }],
    });
    const many = json({
      results: Array.from({ length: 5_001 }, (_, i) => ({ command: `x${i}`, times: [1] })),
    });

    expect(parseToolOutput("hyperfine", text)[0]?.iterations).toHaveLength(500);
    expect(() => parseToolOutput("hyperfine", many)).toThrow("more than 5000 benchmarks");
  });
});

describe("a word of a suite", () => {
  test("is the original if that is valid", () => {
    expect(["BM_Copy/8", "zod", "@scope/x"].map(suiteWordOf)).toEqual([
      "BM_Copy/8",
      "zod",
      "@scope/x",
    ]);
  });

  test("is always valid, equal for equal originals, and different for different ones", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (one, other) => {
        expect(SuiteWord.safeParse(suiteWordOf(one)).success).toBe(true);
        expect(suiteWordOf(one)).toBe(suiteWordOf(one));
        expect(suiteWordOf(one) === suiteWordOf(other)).toBe(one === other);
      }),
    );
  });

  test("differs for originals that look alike", () => {
    expect(suiteWordOf("a b")).toMatch(/^a-b-[0-9a-f]{8}$/);
    expect(suiteWordOf("a b")).not.toBe(suiteWordOf("a/ b"));
  });
});

test("every metric is one that a suite could have", () => {
  const text = "BenchmarkX-8 10 5 ns/op 1 MB/s 3 B/op 1 allocs/op";

  for (const metric of parseToolOutput("go-bench", text)[0]?.metrics ?? []) {
    expect(Metric.safeParse(metric).success).toBe(true);
  }
});
