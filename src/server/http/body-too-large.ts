import { Fault } from "#core/fault.ts";

/** The body of a request is larger than its route accepts; HTTP's status for this is 413. */
export class BodyTooLarge extends Fault {
  constructor(mostBytes: number) {
    super("resource_exhausted", `the body may have at most ${mostBytes} bytes here`);
  }
}
