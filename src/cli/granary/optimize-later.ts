import { setFlagsFromString } from "node:v8";

/**
 * Returns the flag by which a function is optimised after this many bytes of bytecode, instead of 66 KiB. A build sends a
 * granary at most a few thousand requests of each kind: compiling code for so few requests, on the cores that the build
 * needs, was a seventh to a quarter of the cost of a granary (docs/decisions/0037-granary-overhead.md).
 *
 * The engines of Node 22 and later count invocations instead; they do not know the flag, and print an error for it.
 */
export function optimizeLaterFlag(nodeVersion: string): string | undefined {
  return Number.parseInt(nodeVersion, 10) < 22 ? "--interrupt-budget=1000000" : undefined;
}

/** For a daemon that mostly waits. Frequently used code is still optimised, some milliseconds later. */
export function optimizeLater(): void {
  const flag = optimizeLaterFlag(process.versions.node);
  if (flag !== undefined) setFlagsFromString(flag);
}
