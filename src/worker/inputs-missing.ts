import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/** Inputs that the farm does not have. The server sends the list to the client, which then uploads them. */
export class InputsMissing extends Fault {
  readonly digests: readonly Digest[];

  constructor(digests: readonly Digest[]) {
    const first = digests[0];
    const more = digests.length > 1 ? ` and ${digests.length - 1} more` : "";
    super("failed_precondition", `inputs are missing: ${first ? digestKey(first) : "?"}${more}`);
    this.digests = digests;
  }
}
