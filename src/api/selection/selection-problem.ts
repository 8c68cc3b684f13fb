import { Fault } from "#core/fault.ts";

/** A selection that cannot be parsed: the position, the problem, and a suggestion. */
export class SelectionProblem extends Fault {
  /** In characters of the text, counted from 1. */
  readonly column: number;
  readonly hint: string;

  constructor(column: number, wrong: string, hint: string) {
    super("invalid_argument", `selection, column ${column}: ${wrong}; ${hint}`);
    this.column = column;
    this.hint = hint;
  }
}
