import { Fault } from "#core/fault.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Limits } from "./limits.ts";

/** What one slot gives an action. Unset: all of the machine, shared with whoever is there. */
export interface SlotShare {
  readonly cpus?: number;
  readonly memoryBytes?: number;
}

/** What a machine has, as far as this process may use it. */
export interface MachineSize {
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** Left to the worker, and to the system it runs on. */
const ownShareOfMemory = 0.05;
const mostOwnMemoryBytes = 1024 ** 3;

/** With less, the sandbox itself does not start. */
const leastMemoryBytes = 16 * 1024 ** 2;
/** Below this, the kernel's period of 100 ms leaves no slice worth having. */
const leastCpus = 0.01;

/**
 * What a slot gives: what was said, and for what was not, an even part of the machine when the worker was
 * given a size class.
 *
 * A size class is a promise that what was learned on one of its workers holds on the next. Without one,
 * nobody promised anything, and a single action may have the whole machine.
 */
export function slotShare(
  told: {
    readonly slots: number;
    readonly hasClass: boolean;
    /** Null: all that there is. */
    readonly cpus?: number | null | undefined;
    readonly memoryBytes?: number | null | undefined;
  },
  machine: MachineSize,
): SlotShare {
  const { slots, hasClass } = told;
  const free =
    machine.memoryBytes - Math.min(mostOwnMemoryBytes, machine.memoryBytes * ownShareOfMemory);
  const cpus =
    told.cpus === undefined && hasClass
      ? roundedDown(machine.cpus / slots)
      : (told.cpus ?? undefined);
  const memoryBytes =
    told.memoryBytes === undefined && hasClass
      ? Math.floor(free / slots)
      : (told.memoryBytes ?? undefined);
  if (cpus !== undefined) requireWithin(cpus, leastCpus, machine.cpus, (many) => `${many} CPUs`);
  if (memoryBytes !== undefined) {
    requireWithin(memoryBytes, leastMemoryBytes, machine.memoryBytes, memoryText);
  }
  return slotOf({ cpus, memoryBytes });
}

/** Hundredths are what people read; a share that is rounded up would not be there for all. */
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
    `A slot of this worker is to give ${text(value)}; it can give ${bound}`,
  );
}

/**
 * What an action may use: the less of what its slot gives and of its own limits.
 *
 * Its own are upper bounds. A higher one is a bound that is not reached: whoever needs more runs out of
 * memory, and goes on to a greater class.
 */
export function limitsWithin(own: Limits, share: SlotShare): Limits {
  const cpus = lesser(own.cpus, share.cpus);
  const memoryBytes = lesser(own.memoryBytes, share.memoryBytes);
  return { processes: own.processes, ...slotOf({ cpus, memoryBytes }) };
}

function lesser(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** What a worker's settings say of it. */
export function slotOf({
  cpus,
  memoryBytes,
}: {
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
}): SlotShare {
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  };
}

/** For people, in the facilities and in the log. */
export function slotShareText({ cpus, memoryBytes }: SlotShare): string {
  if (cpus === undefined && memoryBytes === undefined) return "all of the machine";
  const many = cpus === undefined ? "every CPU" : cpus === 1 ? "1 CPU" : `${cpus} CPUs`;
  const much =
    memoryBytes === undefined ? "all memory" : `${memorySizeText(memoryBytes)} of memory`;
  return `${many}, ${much}`;
}
