import { parseSuite } from "./read-suite.ts";
import type { Suite } from "./suite.ts";

/** A small suite with all three sections, as a definition; each test changes the parts that it needs. */
export function smallDefinition() {
  return {
    suite: "small",
    artifacts: {
      from: "npm",
      master: { versions: "-dev\\.(?<date>\\d{8})", tag: "nightly-{date}" },
      release: { versions: "^\\d+\\.\\d+\\.\\d+$" },
    },
    backends: {
      js: {
        packages: [{ npm: "compiler", versions: "^[56]\\.", tool: ["node", "{artifact}/c.js"] }],
      },
      native: {
        packages: [{ npm: "@compiler/new" }, { npm: "@compiler/old" }],
        tool: ["{artifact}/c"],
      },
      slow: { default: false, packages: [{ npm: "slow" }], tool: ["{artifact}/s"] },
    },
    targets: { "linux-x64": {}, "linux-arm64": { optional: true } },
    metrics: {
      "wall-time": {
        take: { from: "wall-time" },
        nature: "noisy",
        unit: "seconds",
        decides: false,
      },
      instructions: {
        take: { from: "instructions" },
        nature: "deterministic",
        unit: "instructions",
      },
      files: {
        take: { from: "output", pattern: "^Files:\\s+(\\d+)" },
        nature: "exact",
        unit: "count",
        sections: ["compile"],
      },
    },
    headline: "instructions",
    compile: {
      command: ["{tool}", "-p", "tsconfig.json"],
      files: { "tsconfig.json": { include: ["src"] } },
      profiles: {
        check: { args: ["--noEmit"] },
        emit: { args: ["--outDir", "{out}"] },
        rare: { default: false },
      },
      scenarios: { full: {}, patched: { warm: true, patch: "leaf" } },
      benchmarks: {
        b: { set: 1, category: "secondary", patches: { leaf: { file: "a.ts", append: "x" } } },
        a: { files: { "tsconfig.json": {} } },
        c: { profiles: ["check"], backends: ["native"] },
      },
    },
    runtime: { prepare: ["{tool}"], command: ["node", "{out}/main.js"], benchmarks: { loop: {} } },
    toolchain: { command: ["{tool}", "--version"], benchmarks: { load: {} } },
  };
}

export function smallSuite(): Suite {
  return parseSuite(smallDefinition(), "small.yml");
}
