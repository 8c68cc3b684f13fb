import assert from "node:assert/strict";
import type { HostileSuite } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import {
  type Case,
  go,
  hyperfine,
  importing,
  newSuite,
  refused,
  taken,
  words,
} from "./import-attempts.ts";
import { openFarm } from "./open-farm.ts";

const cases: readonly Case[] = [
  refused(
    "NaN as JSON does not have it",
    "hyperfine",
    '{"results":[{"command":"a","times":[NaN]}]}',
    /no JSON/,
  ),
  refused(
    "Infinity as JSON does not have it",
    "jmh",
    '[{"benchmark":"a","mode":"avgt","primaryMetric":{"score":Infinity,"scoreUnit":"s/op"}}]',
    /no JSON/,
  ),
  refused(
    "1e999, which is endless",
    "hyperfine",
    '{"results":[{"command":"a","times":[1e999]}]}',
    /./,
  ),
  refused("a time below 0", "hyperfine", hyperfine({ command: "a", times: [-1] }), /-1/),
  refused("NaN in a line of Go", "go-bench", go("BenchmarkA 1 NaN ns/op"), /line 2/),
  refused(
    "Infinity in a line of Go",
    "go-bench",
    go("BenchmarkA 1 Infinity ns/op"),
    /Infinity|line 2/,
  ),
  refused("-5 in a line of Go", "go-bench", go("BenchmarkA 1 -5 ns/op"), /-5/),
  refused(
    "1e308, which becomes endless in another unit",
    "google-benchmark",
    JSON.stringify({ benchmarks: [{ name: "a", real_time: 1e308, time_unit: "day" }] }),
    /Infinity|unit/,
  ),
  refused(
    "a division by no iterations",
    "criterion",
    JSON.stringify({
      reason: "benchmark-complete",
      id: "a",
      iteration_count: [0],
      measured_values: [1],
      unit: "ns",
    }),
    /line 1|iteration_count/,
  ),
  refused(
    "more values than iterations",
    "criterion",
    JSON.stringify({
      reason: "benchmark-complete",
      id: "a",
      iteration_count: [1],
      measured_values: [1, 2],
      unit: "ns",
    }),
    /as many/,
  ),
  refused(
    "a unit that is none",
    "jmh",
    JSON.stringify([
      { benchmark: "a", mode: "avgt", primaryMetric: { score: 1, scoreUnit: "__proto__/op" } },
    ]),
    /unit/,
  ),
  refused(
    "a unit of a prototype",
    "google-benchmark",
    JSON.stringify({ benchmarks: [{ name: "a", real_time: 1, time_unit: "constructor" }] }),
    /unit/,
  ),
  refused(
    "10^6 benchmarks (6,000 in vain)",
    "hyperfine",
    hyperfine(...Array.from({ length: 6_000 }, (_, n) => ({ command: `c${n}`, times: [1] }))),
    /5000/,
  ),
  refused("lists 100,000 deep", "hyperfine", "[".repeat(100_000), /JSON|expected/i),
  refused("nothing at all", "vitest", "", /JSON/),
  refused(
    "text in place of figures",
    "pytest-benchmark",
    JSON.stringify({ benchmarks: [{ name: "a", stats: { min: "1" } }] }),
    /min|number/,
  ),
  refused(
    "a figure of 10,000 digits",
    "tinybench",
    JSON.stringify([{ "Task name": "a", "Latency avg (ns)": "9".repeat(10_000) }]),
    /figure|Infinity|number/,
  ),
  refused("an empty list of times", "hyperfine", hyperfine({ command: "a", times: [] }), /times/),
  {
    name: "output of 21 MB",
    async run(farm) {
      const { status } = await farm.ask(
        "/benchmarks/import",
        importing(newSuite(), "go-bench", "x".repeat(21_000_000)),
      );
      assert.equal(status, 400);
    },
  },
  {
    name: "an environment of 50,000 words",
    async run(farm) {
      const environment = Object.fromEntries(
        Array.from({ length: 50_000 }, (_, n) => [`k${n}`, "v"]),
      );
      const told = importing(newSuite(), "hyperfine", hyperfine({ command: "a", times: [1] }), {
        environment,
      });
      assert.equal((await farm.ask("/benchmarks/import", told)).status, 400);
    },
  },
  {
    name: "an artifact, a suite and a target that are paths and markup",
    async run(farm) {
      const output = hyperfine({ command: "a", times: [1] });
      for (const more of [
        { artifact: "../../x" },
        { suite: "<script>" },
        { target: "a/../b" },
        { parent: "a b\n" },
        { artifact: "" },
      ]) {
        const { status } = await farm.ask("/benchmarks/import", {
          ...importing(newSuite(), "hyperfine", output),
          ...more,
        });
        assert([400, 404].includes(status), `${status} for ${JSON.stringify(more)}`);
      }
    },
  },
  {
    name: "unexpected fields",
    async run(farm) {
      const told = importing(newSuite(), "hyperfine", hyperfine({ command: "a", times: [1] }), {
        importedBy: "root",
        decides: true,
      });
      assert.equal((await farm.ask("/benchmarks/import", told)).status, 400);
    },
  },
  {
    name: "a metric whose unit another import changes",
    async run(farm) {
      const suite = newSuite();
      await farm.ask(
        "/benchmarks/import",
        importing(suite, "hyperfine", hyperfine({ command: "a", times: [1] })),
      );
      const before = await words(farm, suite);
      await farm.ask(
        "/benchmarks/import",
        importing(
          suite,
          "jmh",
          JSON.stringify([
            { benchmark: "a", mode: "avgt", primaryMetric: { score: 5, scoreUnit: "h/op" } },
          ]),
        ),
      );
      const after = await words(farm, suite);
      assert.match(before, /"unit":"seconds"|seconds/);
      assert.match(after, /"unit":"seconds"|seconds/);
    },
  },
  taken(
    "one name a thousand times is one case",
    "hyperfine",
    hyperfine(...Array.from({ length: 1_000 }, () => ({ command: "a", times: [1, 2] }))),
    async (farm, suite) => {
      const { text } = await farm.ask(`/benchmarks/suites/${suite}`);
      assert.equal(text.includes("hyperfine"), false);
    },
  ),
  taken(
    "benchmarks named __proto__, constructor and toString",
    "hyperfine",
    hyperfine(
      ...["__proto__", "constructor", "toString", "hasOwnProperty"].map((command) => ({
        command,
        times: [1],
      })),
    ),
    async (farm, suite) => {
      const { status } = await farm.ask(`/benchmarks/suites/${suite}`);
      assert.equal(status, 200);
      assert.equal((await farm.ask("/benchmarks/suites")).status, 200);
    },
  ),
  taken(
    "names that are formulas of a spreadsheet",
    "hyperfine",
    hyperfine(
      ...["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1"].map((command) => ({
        command,
        times: [1],
      })),
    ),
    async (farm, suite) => {
      // Names in a suite begin with a letter, a digit or @ and contain neither = nor (: an export of them contains no
      // formula.
      assert.equal(/"benchmark":"[=+\-\t]/.test(await words(farm, suite)), false);
    },
  ),
  taken(
    "names of markup and of 10 kB",
    "hyperfine",
    hyperfine(
      { command: "<img src=x onerror=alert(1)>", times: [1] },
      { command: "`".repeat(10_000), times: [1] },
    ),
    async (farm, suite) => {
      const text = await words(farm, suite);
      assert.equal(text.includes("<img"), false);
      assert.equal(text.includes("`"), false);
    },
  ),
  taken(
    "10^6 samples of one benchmark: 500 are kept",
    "go-bench",
    `pkg: p\n${"BenchmarkA 1 5 ns/op\n".repeat(100_000)}`,
    async (farm, suite) => {
      const text = await words(farm, suite);
      assert(text.length < 200_000, `${text.length} characters`);
    },
  ),
  taken(
    "the same import twice changes no figure",
    "hyperfine",
    hyperfine({ command: "a", times: [1] }),
    async (farm, suite) => {
      const before = await words(farm, suite);
      const again = await farm.ask(
        "/benchmarks/import",
        importing(suite, "hyperfine", hyperfine({ command: "a", times: [99] })),
      );
      assert.equal((again.json() as { iterations: number }).iterations, 0);
      assert.equal(await words(farm, suite), before);
    },
  ),
];

export const importerSuite: HostileSuite<HostileFarm> = {
  interface: "figures of other tools",
  atLeast: 20,
  cases,
  open: openFarm,
};
