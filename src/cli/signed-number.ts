import { InvalidArgumentError } from "commander";

/** Parses an option's value that may lie below zero, such as a priority. */
export function signedNumber(text: string): number {
  if (!/^[+-]?\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}
