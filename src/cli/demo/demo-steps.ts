/** A step of the demo after its first graph has ended. */
export type DemoStep =
  /** The graph of an earlier commit; numbers start at 1. */
  | { readonly kind: "graph"; readonly commit: string; readonly number: number }
  /** The graph with the breakpoint, which waits for a person. */
  | { readonly kind: "release"; readonly commit: string }
  /** A build through the Remote Execution API, twice. */
  | { readonly kind: "remote-build" }
  /** A build with ccache, which uses the farm as its storage. */
  | { readonly kind: "ccache" }
  /** The benchmarks of all commits. */
  | { readonly kind: "benchmarks" };

export interface DemoTools {
  readonly hasCompiler: boolean;
  readonly hasCcache: boolean;
}

/** Names a step in the record of completed steps; a step of another history has another name. */
export function stepName(step: DemoStep): string {
  return "commit" in step ? `${step.kind} ${step.commit}` : step.kind;
}

/**
 * Returns the remaining steps, in their order.
 *
 * A step that needs a missing program is left out, and runs when the demo is later started with it.
 */
export function stepsToDo(
  commits: readonly string[],
  done: ReadonlySet<string>,
  { hasCompiler, hasCcache }: DemoTools,
): readonly DemoStep[] {
  const newest = commits.at(-1);
  const graphs = commits
    .slice(0, -1)
    .map((commit, index): DemoStep => ({ kind: "graph", commit, number: index + 1 }));
  const all: readonly DemoStep[] = [
    ...graphs,
    ...(newest === undefined ? [] : [{ kind: "release", commit: newest } as const]),
    { kind: "remote-build" },
    ...(hasCompiler && hasCcache ? [{ kind: "ccache" } as const] : []),
    { kind: "benchmarks" },
  ];
  return all.filter((step) => !done.has(stepName(step)));
}
