import type { Edge, Graph, JobSummary } from "#api/graph.ts";

/** A job's name and the jobs that it waits for. */
export type Plan = readonly (readonly [name: string, ...on: string[]])[];

export const smallPlan: Plan = [
  ["install"],
  ["lint", "install"],
  ["format", "install"],
  ["types", "install"],
  ["proto", "install"],
  ["unit/core", "types"],
  ["unit/cas", "types", "proto"],
  ["unit/execution", "types", "proto"],
  ["unit/graphs", "types"],
  ["build/pages", "types"],
  ["build/server", "types", "proto"],
  ["build/worker", "proto", "types"],
  ["image", "build/server", "build/worker", "build/pages"],
  ["end-to-end/chromium", "image"],
  ["end-to-end/grpc", "image"],
  ["end-to-end/faults", "image", "unit/execution"],
  ["docs", "install"],
  [
    "publish",
    "end-to-end/chromium",
    "end-to-end/grpc",
    "end-to-end/faults",
    "lint",
    "format",
    "docs",
  ],
];

/** Many chunks of tests on several platforms, as on large farms. Deterministic. */
export function largePlan(jobs: number): Plan {
  const plan: [string, ...string[]][] = [["decide"]];
  const platforms = ["linux-x64", "linux-arm64", "macos-arm64", "windows-x64"];
  for (const platform of platforms) {
    plan.push([`toolchain/${platform}`, "decide"], [`build/${platform}`, `toolchain/${platform}`]);
  }
  const suites = ["unit", "web-platform", "reftest", "fuzz", "talos"];
  for (let chunk = 1; plan.length < jobs - 1; chunk++) {
    const platform = platforms[chunk % platforms.length] ?? "linux-x64";
    const suite = suites[Math.floor(chunk / 4) % suites.length] ?? "unit";
    plan.push([`${suite}/${platform}/${chunk}`, `build/${platform}`]);
  }
  plan.push(["report", ...plan.slice(9, 60).map(([name]) => name)]);
  return plan;
}

export function madeUpGraph(
  id: string,
  plan: Plan,
  about: { repository: string; subject: string; author: string; rev: string; createdAt: Date },
): Graph {
  const createdAt = about.createdAt.toISOString();
  const jobList = plan.map(
    ([name]): JobSummary => ({
      name,
      kind: "command",
      state: "blocked",
      version: 1,
      tags: name.includes("/") ? { kind: name.slice(0, name.indexOf("/")) } : {},
      runs: 0,
      cached: false,
      stale: false,
      customised: false,
      reason: null,
      readyAt: null,
      startedAt: null,
      finishedAt: null,
    }),
  );
  const edges = plan.flatMap(([job, ...on]) =>
    on.map((each): Edge => ({ job, on: each, condition: "success", status: "open", waived: null })),
  );
  return {
    id,
    repository: about.repository,
    project: "default",
    commit: commitFor(id),
    rev: about.rev,
    subject: about.subject,
    author: about.author,
    committedAt: createdAt,
    catalog: commitFor(`${id}-catalog`).repeat(2).slice(0, 64),
    set: id,
    setName: null,
    templates: null,
    customised: 0,
    idleMs: 0,
    parent: null,
    branch: about.rev,
    priority: 0,
    top: false,
    submittedBy: "anyone",
    state: "running",
    version: 1,
    jobs: jobList.length,
    counts: { blocked: jobList.length },
    createdAt,
    finishedAt: null,
    jobList,
    edges,
  };
}

/** Returns forty hex digits that look like a commit, always the same for a seed. */
export function commitFor(seed: string): string {
  let state = 2_166_136_261;
  let digits = "";
  for (let round = 0; digits.length < 40; round++) {
    for (const char of `${seed}${round}`) state = Math.imul(state ^ char.charCodeAt(0), 16_777_619);
    digits += (state >>> 0).toString(16).padStart(8, "0");
  }
  return digits.slice(0, 40);
}
