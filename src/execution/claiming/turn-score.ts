import { strongestPriority } from "./queue-place.ts";

/** How much weight a lane's turns have: 100 steps of priority halve or double it (Buildbarn's rule). */
export function weightOf(priority: number): number {
  return 2 ** (-Math.min(strongestPriority, Math.max(-strongestPriority, priority)) / 100);
}
