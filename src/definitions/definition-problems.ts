import { Fault } from "#core/fault.ts";
import { definitionLimits } from "./definition-limits.ts";

/** A problem in the user's own files. Lines and columns count from 1; null when unknown. */
export interface DefinitionProblem {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** The problem, and how to correct it. */
  readonly message: string;
}

/** The definitions cannot be used; `problems` contains all found reasons, not only the first. */
export class DefinitionProblems extends Fault {
  readonly problems: readonly DefinitionProblem[];

  constructor(problems: readonly DefinitionProblem[]) {
    super("invalid_argument", summaryOf(problems));
    this.problems = problems;
  }
}

/** `file:line:column: message`, the form that editors and terminals make clickable. */
function problemLine(problem: DefinitionProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== null);
  return `${place.join(":")}: ${problem.message}`;
}

function summaryOf(problems: readonly DefinitionProblem[]): string {
  const [first, ...others] = problems;
  if (first === undefined) return "the definitions cannot be used";
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${problemLine(first)}${more}`;
}

/** Throws all problems that were found so far, if any. */
export function throwIfAny(problems: readonly DefinitionProblem[]): void {
  if (problems.length === 0) return;
  throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));
}
