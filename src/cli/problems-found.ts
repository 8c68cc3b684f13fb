import { Fault } from "#core/fault.ts";
import type { Problem } from "./api/api-failure.ts";

/** There are problems in the user's files; it contains their texts for display. */
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
