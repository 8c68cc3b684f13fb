import { InvalidArgumentError } from "commander";

/** 32 bits, for the simulator's random numbers. */
export function traceSeed(text: string): number {
  const seed = Number(text);
  if (/^\d{1,10}$/.test(text) && seed < 2 ** 32) return seed;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${2 ** 32 - 1}.`);
}
