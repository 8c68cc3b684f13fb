import { InvalidArgumentError } from "commander";

/** Parses an option's value that is a count. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** The same within limits. */
export function numberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = wholeNumber(text);
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be from ${least} to ${most}.`);
  };
}
