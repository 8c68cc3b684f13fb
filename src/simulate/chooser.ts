import type { Choice } from "#size-classes/choice.ts";
import type { EndedRun, Next, Situation, Strategy } from "#size-classes/strategy.ts";
import type { TraceExecution } from "./trace.ts";

/** Chooses in a simulation. A strategy does not see the execution; the oracle does. */
export interface Chooser {
  readonly name: string;
  choose(situation: Situation, execution: TraceExecution): Choice;
  afterwards(situation: Situation, first: Choice, runs: readonly EndedRun[]): Next;
}

export function chooserOf(strategy: Strategy): Chooser {
  return {
    name: strategy.name,
    choose: (situation) => strategy.choose(situation),
    afterwards: (situation, first, runs) => strategy.afterwards(situation, first, runs),
  };
}
