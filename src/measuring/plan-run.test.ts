import { expect, test } from "vitest";
import { foldersInside } from "./folders/run-folders.ts";
import { suiteOf, theCase } from "./measuring.fixture.ts";
import { planRun } from "./plan-run.ts";
import { metricsFrom, valuesOf } from "./values-of.ts";

const artifact = {
  directory: "/cache/abc",
  tool: ["node", "/cache/abc/lib/tsc.js"],
  env: { LIBRARIES: "/cache/abc/lib:/usr/lib" },
};
const suite = suiteOf({
  backend: {
    env: { A: "backend", B: "backend" },
    instructions: { without: "cachegrind", args: ["--hash-seed=1"], env: { GOGC: "off" } },
  },
  compile: {
    prepare: ["{tool}", "--init", "{state}"],
    command: ["{tool}", "-p", "{source}/x.json"],
    profiles: { emit: { args: ["--outDir", "{out}"] } },
    scenarios: { patched: { args: ["--incremental"], warm: true, patch: "hub" } },
  },
  benchmark: {
    args: ["--types", "node"],
    env: { B: "benchmark {out}" },
    patches: { hub: { file: "a.ts", append: "x" } },
  },
});
const full = { ...theCase, profile: "emit", scenario: "patched" };

test("fills the placeholders of a timed command, with arguments in the order benchmark, profile, scenario", () => {
  const plan = planRun(suite, full, artifact, foldersInside, "timed");

  expect(plan).toMatchObject({
    prepare: ["node", "/grange/artifact/lib/tsc.js", "--init", "/grange/state"],
    warm: true,
    patch: { file: "a.ts", append: "x" },
    env: { A: "backend", B: "benchmark /grange/out", LIBRARIES: "/grange/artifact/lib:/usr/lib" },
  });
  expect(plan.command.join(" ")).toBe(
    "node /grange/artifact/lib/tsc.js -p /grange/source/x.json --types node --outDir /grange/out --incremental",
  );
  expect(plan.env["GOGC"]).toBeUndefined();
});

test("adds the arguments for counting directly after the program of a counted command", () => {
  const plan = planRun(suite, full, artifact, foldersInside, "counted");

  expect(plan.command.slice(0, 3)).toEqual([
    "node",
    "--hash-seed=1",
    "/grange/artifact/lib/tsc.js",
  ]);
  expect(plan.env["GOGC"]).toBe("off");
});

test("a command without the tool gets no arguments of the tool", () => {
  const runtime = suiteOf({
    backend: { instructions: { args: ["--singleThreaded"] } },
    compile: { command: ["node", "{out}/main.js"] },
  });
  expect(planRun(runtime, theCase, artifact, foldersInside, "counted").command).toEqual([
    "node",
    "/grange/out/main.js",
  ]);
});

test.each([
  ["output", "Files: 3\nTypes:  1,234 \nTypes: 9", { types: 1234 }],
  ["scaled output", "Parse time: 0.3s", { parse: 300 }],
  ["the last line that is JSON", '{"a~b": {"c/d": [1, 2.5]}}\n{"a~b": no}\ndone', { json: 2.5 }],
  ["nothing that fits", "", {}],
])("takes %s", (_, output, values) => {
  const metrics = suiteOf({
    metrics: {
      types: {
        take: { from: "output", pattern: "^Types:\\s+([\\d,]+)" },
        nature: "exact",
        unit: "count",
      },
      parse: {
        take: { from: "output", pattern: "^Parse time: ([\\d.]+)s", scale: 1_000 },
        nature: "noisy",
        unit: "count",
      },
      json: { take: { from: "json", pointer: "/a~0b/c~1d/1" }, nature: "noisy", unit: "count" },
    },
  });
  const taken = valuesOf(metricsFrom(metrics, "compile", "timed"), {
    instructions: undefined,
    usage: undefined,
    wallSeconds: 1,
    output,
    sizes: new Map(),
  });
  expect(taken.values).toEqual(values);
  expect(taken.missing).toHaveLength(3 - Object.keys(values).length);
});
