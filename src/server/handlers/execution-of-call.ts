import { Fault } from "#core/fault.ts";
import { ExecutionId } from "#execution/execution.ts";

/** Returns the execution that an address names. Throws `invalid_argument`. */
export function executionOfCall(written: string): ExecutionId {
  const id = ExecutionId.safeParse(written);
  if (id.success) return id.data;
  throw new Fault(
    "invalid_argument",
    `"${written.slice(0, 60)}" is not the id of an execution, which is a UUID`,
  );
}

/** Returns the name of the execution for the message that it does not exist. */
export function describeExecution(id: ExecutionId): string {
  return `execution ${id}; it may be so old that the farm has deleted it`;
}
