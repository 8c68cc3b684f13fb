import { Fault } from "#core/fault.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Limits } from "./limits.ts";

/**
 * The share of the machine that one slot gives an action. Undefined: all of the machine, shared with other processes.
 */
export interface SlotShare {
  readonly cpus?: number;
  readonly memoryBytes?: number;
  /** What an action may write on the disk while it runs. Never an even part: workers may share the disk. */
  readonly diskBytes?: number;
}

/** The size of a machine, limited to the part that this process may use. */
export interface MachineSize {
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** Reserved for the worker and the operating system. */
const ownShareOfMemory = 0.05;
const mostOwnMemoryBytes = 1024 ** 3;

/** With less, the sandbox itself does not start. */
const leastMemoryBytes = 16 * 1024 ** 2;
/** Below this, the slices of the kernel's period of 100 ms are too short. */
const leastCpus = 0.01;

/**
 * Returns the share of a slot: the configured one, or an even part of the machine when the worker has a size class.
 *
 * A size class promises that measurements on one of its workers are valid on the others. Without a class there is no
 * promise, and a single action may use the whole machine.
 */
export function slotShare(
  given: {
    readonly slots: number;
    readonly hasClass: boolean;
    /** Null: all CPUs of the machine. */
    readonly cpus?: number | null | undefined;
    readonly memoryBytes?: number | null | undefined;
    readonly diskBytes?: number | null | undefined;
  },
  machine: MachineSize,
): SlotShare {
  const { slots, hasClass } = given;
  const free =
    machine.memoryBytes - Math.min(mostOwnMemoryBytes, machine.memoryBytes * ownShareOfMemory);
  const cpus =
    given.cpus === undefined && hasClass
      ? roundedDown(machine.cpus / slots)
      : (given.cpus ?? undefined);
  const memoryBytes =
    given.memoryBytes === undefined && hasClass
      ? Math.floor(free / slots)
      : (given.memoryBytes ?? undefined);
  if (cpus !== undefined) requireWithin(cpus, leastCpus, machine.cpus, (many) => `${many} CPUs`);
  if (memoryBytes !== undefined) {
    requireWithin(memoryBytes, leastMemoryBytes, machine.memoryBytes, memoryText);
  }
  return slotOf({ cpus, memoryBytes, diskBytes: given.diskBytes ?? undefined });
}

/** Rounded to hundredths for readability, and down, because rounded-up shares could exceed the machine. */
function roundedDown(cpus: number): number {
  return Math.max(leastCpus, Math.floor(cpus * 100) / 100);
}

const memoryText = (bytes: number) => `${memorySizeText(bytes)} of memory`;

function requireWithin(
  value: number,
  least: number,
  most: number,
  text: (value: number) => string,
): void {
  if (value >= least && value <= most) return;
  const bound = value < least ? `at least ${text(least)}` : `at most ${text(most)}: all there is`;
  throw new Fault(
    "invalid_argument",
    `A slot of this worker cannot give ${text(value)}; it can give ${bound}`,
  );
}

/**
 * Returns the limits of an action: the lower of its slot's share and of its own limits.
 *
 * Its own limits are upper bounds. A limit above the slot's has no effect: an action that needs more runs out of memory
 * and is retried on a larger class.
 */
export function limitsWithin(own: Limits, share: SlotShare): Limits {
  const cpus = lesser(own.cpus, share.cpus);
  const memoryBytes = lesser(own.memoryBytes, share.memoryBytes);
  return {
    processes: own.processes,
    ...slotOf({ cpus, memoryBytes, diskBytes: share.diskBytes }),
  };
}

function lesser(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Returns the share that a worker's settings describe. */
export function slotOf({
  cpus,
  memoryBytes,
  diskBytes,
}: {
  readonly [Resource in keyof SlotShare]?: number | undefined;
}): SlotShare {
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(diskBytes === undefined ? {} : { diskBytes }),
  };
}

/** For people: used in the facilities and in the log. */
export function slotShareText({ cpus, memoryBytes, diskBytes }: SlotShare): string {
  if (cpus === undefined && memoryBytes === undefined && diskBytes === undefined)
    return "all of the machine";
  const many = cpus === undefined ? "every CPU" : cpus === 1 ? "1 CPU" : `${cpus} CPUs`;
  const much =
    memoryBytes === undefined ? "all memory" : `${memorySizeText(memoryBytes)} of memory`;
  const disk = diskBytes === undefined ? "" : `, ${memorySizeText(diskBytes)} of disk`;
  return `${many}, ${much}${disk}`;
}
