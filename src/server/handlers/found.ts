import { Fault } from "#core/fault.ts";

/** What was asked for, or the fault that says it is not there. */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Fault("not_found", `there is no ${what}`);
  return value;
}
