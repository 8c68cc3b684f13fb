import type { Command } from "commander";
import { UsageError } from "./usage-error.ts";

/** The graph to which a selection of jobs belongs. */
export interface JobChoiceOptions {
  readonly graph?: string;
  readonly set?: string;
}

export function choosesJobs(command: Command, otherwise?: string): Command {
  const which = "which jobs: a name, a tag's value, 'kind:b2g', 'state:failed & pgo'";
  return (
    otherwise === undefined
      ? command.argument("<selection>", which)
      : command.argument("[selection]", which, otherwise)
  )
    .option("--graph <graph>", "of this graph (default: latest)")
    .option("--set <set>", "of all graphs of a set: its name, or a graph of it");
}

export function changesJobs(command: Command): Command {
  return command
    .option("--reason <text>", "why, for those who ask later")
    .option("--dry-run", "only say what would happen")
    .option("--yes", "do not ask; without a terminal, nobody is asked");
}

export function graphOfChoice({ graph, set }: JobChoiceOptions): {
  readonly graph: string;
  readonly wholeSet: boolean;
} {
  if (graph !== undefined && set !== undefined) {
    throw new UsageError("--graph and --set exclude each other: one graph, or all of its set");
  }
  return { graph: set ?? graph ?? "latest", wholeSet: set !== undefined };
}
