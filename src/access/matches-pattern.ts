import { fitsStars } from "#core/star-pattern.ts";

/** Returns whether a name matches a pattern, in which `*` stands for any characters (also `/`) or for none. */
export function matchesPattern(pattern: string, name: string): boolean {
  return fitsStars(pattern.split("*"), name);
}
