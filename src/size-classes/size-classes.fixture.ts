import type { Platform } from "#core/platform.ts";
import type { WorkersUp } from "#execution/sizing/size-class-offers.store.ts";
import type { DeclaredClass } from "./declared-classes.store.ts";

export const linux: Platform = { OSFamily: "linux" };

/** A simple class, declared and without a limit. */
export function aDeclaredClass(changes: Partial<DeclaredClass> = {}): DeclaredClass {
  return {
    platform: linux,
    sizeClass: 1,
    cpus: null,
    memoryBytes: null,
    price: null,
    leastWorkers: 0,
    mostWorkers: null,
    slotsPerWorker: 1,
    declaredBy: "ada",
    declaredAt: new Date(0),
    ...changes,
  };
}

/** Workers of class 1 with one slot; by default a single idle one. */
export function areUp(changes: Partial<WorkersUp> = {}): WorkersUp {
  const workers = changes.workers ?? 1;
  return {
    platform: { OSFamily: "linux", ISA: "x86-64" },
    sizeClass: 1,
    workers,
    slots: workers,
    busySlots: 0,
    remainingMs: 0,
    cpus: null,
    memoryBytes: null,
    ...changes,
  };
}
