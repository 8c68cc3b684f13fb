import { Fault } from "#core/fault.ts";

/** A request's body has more bytes than its route takes; HTTP's status for it is 413. */
export class BodyTooLarge extends Fault {
  constructor(mostBytes: number) {
    super("resource_exhausted", `the body may have at most ${mostBytes} bytes here`);
  }
}
