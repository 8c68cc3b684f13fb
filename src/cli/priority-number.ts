import { InvalidArgumentError } from "commander";

/** Parses a priority option, or a maximum priority. */
export function priorityNumber(text: string): number {
  const priority = /^[+-]?\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(priority) <= 1_000) return priority;
  throw new InvalidArgumentError("It must be a whole number from -1000 to 1000.");
}
