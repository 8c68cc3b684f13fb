/** The parts of a suite to measure; empty lists mean the default ones. */
export interface BenchChoice {
  readonly backends: readonly string[];
  readonly profiles: readonly string[];
  readonly targets: readonly string[];
  readonly benchmarks: readonly string[];
  /** The runs of each case; undefined: the default. */
  readonly runs: number | undefined;
}

/** The commands that a comment may contain. */
export type Command =
  /** For the pull request's head. `isToWait`: its artifacts do not exist yet. */
  | { readonly kind: "bench"; readonly isToWait: boolean; readonly choice: BenchChoice }
  /** Requests a graph for a commit that was already built: 7 to 40 hex digits. */
  | { readonly kind: "build"; readonly sha: string; readonly choice: BenchChoice }
  | { readonly kind: "retrigger"; readonly selection: string }
  | { readonly kind: "cancel" }
  /** Without a commit: the head at the time when the comment was written. */
  | { readonly kind: "approve"; readonly sha: string | undefined }
  | { readonly kind: "help" };

export type CommandKind = Command["kind"];

export const commandKinds = [
  "bench",
  "build",
  "retrigger",
  "cancel",
  "approve",
  "help",
] as const satisfies readonly CommandKind[];

/** The commands with their syntax, under the name of the farm. */
export function usage(name: string): readonly string[] {
  const choice = "[backends=A,B] [profiles=…] [targets=…] [benchmarks=…] [runs=N]";
  return [
    `@${name} bench [queue] ${choice}`,
    `@${name} build SHA ${choice}`,
    `@${name} retrigger [SELECTION]`,
    `@${name} cancel`,
    `@${name} approve [SHA]`,
    `@${name} help`,
  ];
}
