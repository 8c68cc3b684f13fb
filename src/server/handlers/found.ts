import { Fault } from "#core/fault.ts";

/** Returns the value; throws `not_found` when it is undefined. */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Fault("not_found", `there is no ${what}`);
  return value;
}
