/** A suite for a toy line: an exact figure, and the time of its programs. */
export function toySuite(
  repository: string,
  options: {
    readonly name: string;
    readonly target: string;
    /** Benchmarks of each set. */
    readonly sets: readonly (readonly string[])[];
    readonly timed?: number;
    readonly rounds?: readonly number[];
    /** The interpreter of the programs; default Node. */
    readonly tool?: readonly string[];
  },
): Record<string, unknown> {
  return {
    suite: options.name,
    description: "Programs of ten lines.",
    artifacts: { from: "git", repository, branch: "main" },
    backends: { node: { tool: options.tool ?? [process.execPath, "{artifact}/lib/tool.mjs"] } },
    targets: { [options.target]: {} },
    metrics: {
      work: { take: { from: "json", pointer: "/work" }, nature: "exact", unit: "count" },
      "user-time": { take: { from: "user-time" }, nature: "noisy", unit: "seconds" },
      "wall-time": {
        take: { from: "wall-time" },
        nature: "noisy",
        unit: "seconds",
        decides: false,
      },
    },
    headline: "work",
    compile: {
      command: ["{tool}"],
      profiles: { plain: {} },
      scenarios: { full: {} },
      benchmarks: Object.fromEntries(
        options.sets.flatMap((names, set) => names.map((name) => [name, { set }])),
      ),
    },
    iterations: { counted: 1, timed: options.timed ?? 2 },
    pairs: { default: false, rounds: [...(options.rounds ?? [5, 10, 20])] },
  };
}
