import { Fault } from "#core/fault.ts";

/** The command was called wrongly; the sentence says how it is called rightly. */
export class UsageError extends Fault {
  constructor(message: string) {
    super("invalid_argument", message);
  }
}
