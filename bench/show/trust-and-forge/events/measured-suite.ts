import { suiteName } from "./watched-place.ts";

export const target = "linux-x64";
export const program = "lib/tool.mjs";

/** A program that reports a figure of its own: exact, so that one process a commit says all. */
export function programOf(work: number): string {
  return `console.log(JSON.stringify({ work: ${work} }));\n`;
}

/** How commits of a repository are measured. */
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
