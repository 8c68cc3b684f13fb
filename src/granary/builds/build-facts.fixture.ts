import type { BuildFacts } from "./build-facts.ts";

export function someFacts(more: Partial<BuildFacts> = {}): BuildFacts {
  return {
    project: "p",
    repository: "",
    commits: [],
    tree: "",
    branch: "",
    dirty: false,
    environment: "e",
    machine: "m",
    command: "make",
    targets: [],
    prefetch: true,
    ...more,
  };
}
