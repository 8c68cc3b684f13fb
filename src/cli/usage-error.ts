import { Fault } from "#core/fault.ts";

/** The command line is invalid; the message states the correct form. */
export class UsageError extends Fault {
  constructor(message: string) {
    super("invalid_argument", message);
  }
}
