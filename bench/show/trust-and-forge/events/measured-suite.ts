import { suiteName } from "./watched-place.ts";

export const target = "linux-x64";
export const program = "lib/tool.mjs";

/** A program that reports its own exact figure, so that one process per commit is enough. */
export function programOf(work: number): string {
  return `console.log(JSON.stringify({ work: ${work} }));\n`;
}

/** The measurement of a repository's commits. */
export function measuredSuite(repository: string): Readonly<Record<string, unknown>> {
  return {
    suite: suiteName,
    description: "A program of one line.",
    artifacts: { from: "git", repository, branch: "main", release: { tags: "^v\\d+$" } },
    backends: { node: { tool: [process.execPath, `{artifact}/${program}`] } },
    targets: { [target]: {} },
    metrics: {
      work: { take: { from: "json", pointer: "/work" }, nature: "exact", unit: "count" },
    },
    headline: "work",
    compile: {
      command: ["{tool}"],
      profiles: { plain: {} },
      scenarios: { full: {} },
      benchmarks: { tool: {} },
    },
    iterations: { counted: 1, timed: 1 },
  };
}
