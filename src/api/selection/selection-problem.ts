import { Fault } from "#core/fault.ts";

/** A selection that cannot be read: where in its text, what is wrong, and what to write instead. */
export class SelectionProblem extends Fault {
  /** Of the text's characters, counted from 1. */
  readonly column: number;
  readonly hint: string;

  constructor(column: number, wrong: string, hint: string) {
    super("invalid_argument", `selection, column ${column}: ${wrong}; ${hint}`);
    this.column = column;
    this.hint = hint;
  }
}
