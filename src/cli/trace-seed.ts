import { InvalidArgumentError } from "commander";

/** Of 32 bits, as the simulator's chance takes. */
export function traceSeed(text: string): number {
  const seed = Number(text);
  if (/^\d{1,10}$/.test(text) && seed < 2 ** 32) return seed;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${2 ** 32 - 1}.`);
}
