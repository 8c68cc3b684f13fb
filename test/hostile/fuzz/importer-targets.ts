import { parseToolOutput } from "#perf/imports/parse-tool-output.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";

/** Pieces with a meaning in JSON. */
export const jsonWords = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "null",
  "1e400",
  "-0",
  "\\u0000",
  "__proto__",
];

/** The output of other benchmark tools. */
export function importerTargets(): FuzzTarget[] {
  const samples = {
    hyperfine:
      '{"results":[{"command":"a","times":[0.1,0.2],"mean":0.15,"user":0.1,"system":0.01,"parameters":{"n":"1"}}]}',
    criterion:
      '{"reason":"benchmark-complete","id":"a/b","unit":"ns","measured_values":[1,2],"iteration_count":[1,2]}\n',
    "google-benchmark":
      '{"context":{},"benchmarks":[{"name":"BM_a/8","run_name":"BM_a/8","run_type":"iteration","iterations":3,"real_time":1.5,"cpu_time":1.4,"time_unit":"ns"}]}',
    "pytest-benchmark":
      '{"benchmarks":[{"name":"a","fullname":"t.py::a","stats":{"min":0.1,"data":[0.1,0.2]},"params":{"x":1}}]}',
    "go-bench": "pkg: a/b\nBenchmarkX-8  100  12.5 ns/op  3 B/op  1 allocs/op\n",
    vitest:
      '{"files":[{"filepath":"a","groups":[{"fullName":"g","benchmarks":[{"name":"a","samples":[1]}]}]}]}',
    tinybench: '[{"Task name":"a","Latency avg (ns)":"12.5 ± 1%","Throughput avg (ops/s)":"3"}]',
    jmh: '[{"benchmark":"a.b","mode":"avgt","primaryMetric":{"score":1.5,"rawData":[[1.5]],"scoreUnit":"ms/op"}}]',
  } as const;
  return Object.entries(samples).map(([tool, sample]) => ({
    name: `output of ${tool}`,
    seeds: [sample],
    words: [...jsonWords, "\n", "1e308", "NaN", "Benchmark"],
    read(bytes) {
      const cases = parseToolOutput(tool as keyof typeof samples, Buffer.from(bytes).toString());
      for (const { iterations } of cases)
        if (iterations.some((values) => Object.values(values).some((one) => !Number.isFinite(one))))
          throw new BrokenLaw("a value is no finite number");
      return cases;
    },
  }));
}
