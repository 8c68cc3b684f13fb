import { Fault } from "#core/fault.ts";
import type { Problem } from "./api/api-failure.ts";

/** Something is wrong in the user's files, and here are their texts to show it in. */
export class ProblemsFound extends Fault {
  readonly problems: readonly Problem[];
  readonly sourceOf: (file: string) => string | undefined;

  constructor(
    message: string,
    problems: readonly Problem[],
    sourceOf: (file: string) => string | undefined,
  ) {
    super("invalid_argument", message);
    this.problems = problems;
    this.sourceOf = sourceOf;
  }
}
