import { setFlagsFromString } from "node:v8";

/**
 * A function is optimised after this many bytes of bytecode, instead of 66 KiB. A build sends a granary at most a few
 * thousand requests of each kind: compiling more than that pays for, on the cores that the build needs, was a seventh
 * to a quarter of the cost of a granary (docs/decisions/0037-what-a-granary-costs.md).
 */
export const optimizeLaterFlag = "--interrupt-budget=1000000";

/** For a daemon that waits more than it works. Code that is really hot is optimized all the same, some milliseconds later. */
export function optimizeLater(): void {
  setFlagsFromString(optimizeLaterFlag);
}
