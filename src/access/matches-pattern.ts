import { fitsStars } from "#core/star-pattern.ts";

/** Whether a name fits a pattern, in which `*` stands for any characters, `/` too, or for none. */
export function matchesPattern(pattern: string, name: string): boolean {
  return fitsStars(pattern.split("*"), name);
}
