import { setFlagsFromString } from "node:v8";

/**
 * A function is compiled by the optimizing compiler after so many bytes of bytecode, in the place of 66 KiB. A build asks a
 * granary a few thousand things of each kind at the most: compiling for more than that, on the cores that the build wants,
 * was a seventh to a quarter of what a granary cost it (docs/decisions/0037-what-a-granary-costs.md).
 */
export const optimizeLaterFlag = "--interrupt-budget=1000000";

/** For a daemon that waits more than it works. Code that is really hot is optimized all the same, some milliseconds later. */
export function optimizeLater(): void {
  setFlagsFromString(optimizeLaterFlag);
}
