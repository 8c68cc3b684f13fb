import { parseMemorySize } from "#core/memory-size.ts";
import type { Platform } from "#core/platform.ts";
import type { RequestedSizeClasses } from "#execution/sizing/requested-size-classes.ts";
import type { OfferedClass } from "./strategy.ts";

interface OpenClasses {
  /** Whether more than one class is within the limits. */
  readonly isOpen: boolean;
  /** The classes to choose from. */
  readonly classes: readonly OfferedClass[];
}

/**
 * Returns the classes that may be chosen for an action: those within its limits that have the CPUs and the memory that
 * it requires.
 *
 * If none has as much, only the limits count, and the worker reports the shortage.
 */
export function openClasses(
  classes: readonly OfferedClass[],
  { least, most = Infinity }: RequestedSizeClasses,
  platform: Platform,
  /** The age of the waits: they have become shorter by this time. */
  ageMs: number,
): OpenClasses {
  const allowed = classes.filter(({ sizeClass }) => sizeClass >= least && sizeClass <= most);
  const cpus = Number(platform["cpus"] ?? 0) || 0;
  const memoryBytes = parseMemorySize(platform["memory"] ?? "") ?? 0;
  const enough = allowed.filter((each) => each.cpus >= cpus && each.memoryBytes >= memoryBytes);
  const classesNow = (enough.length > 0 ? enough : allowed).map((each) =>
    each.waitMs > 0 ? { ...each, waitMs: Math.max(0, each.waitMs - ageMs) } : each,
  );
  return { isOpen: allowed.length > 1, classes: classesNow };
}
