import type { Command } from "commander";
import { UsageError } from "./usage-error.ts";

/** The graph to which a selection of jobs belongs. */
export interface JobChoiceOptions {
  readonly graph?: string;
  readonly set?: string;
}

export function choosesJobs(command: Command, otherwise?: string): Command {
  const which = "a selection of jobs: a name, the value of a tag, 'kind:b2g', 'state:failed & pgo'";
  return (
    otherwise === undefined
      ? command.argument("<selection>", which)
      : command.argument("[selection]", which, otherwise)
  )
    .option("--graph <graph>", "the graph (default: latest)")
    .option("--set <set>", "all graphs of a set: the name of the set, or a graph in it");
}

export function changesJobs(command: Command): Command {
  return command
    .option("--reason <text>", "the reason, which others can read later")
    .option("--dry-run", "only print what would happen")
    .option("--yes", "do not ask for confirmation; without a terminal the command never asks");
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
