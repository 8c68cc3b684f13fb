import { setFlagsFromString } from "node:v8";

/**
 * A function is optimised after this many bytes of bytecode, instead of 66 KiB. A build sends a granary at most a few
 * thousand requests of each kind: compiling code for so few requests, on the cores that the build needs, was a seventh
 * to a quarter of the cost of a granary (docs/decisions/0037-granary-overhead.md).
 */
export const optimizeLaterFlag = "--interrupt-budget=1000000";

/** For a daemon that mostly waits. Frequently used code is still optimised, some milliseconds later. */
export function optimizeLater(): void {
  setFlagsFromString(optimizeLaterFlag);
}
