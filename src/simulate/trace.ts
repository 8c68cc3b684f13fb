import { z } from "zod";

/** The first line of a trace states this format. A change that old programs would misread needs a new number. */
export const traceFormat = "grange-size-class-trace/1";

/** The latest time of an event in a simulation: 1000 years. Keeps sums of milliseconds exact in a double. */
export const mostMs = 31_557_600_000_000;
const mostBytes = 2 ** 53;

const ms = z.number().min(0).max(mostMs);
const share = z.number().min(0).max(1);

/** The number of workers of a class; each executes one action at a time. */
export const Pool = z.discriminatedUnion("kind", [
  /** Always running, from the first submission to the last end. */
  z.strictObject({ kind: z.literal("fixed"), workers: z.int().min(1).max(10_000) }),
  /** Started when a run waits, and stopped after some idle time. */
  z.strictObject({
    kind: z.literal("elastic"),
    most: z.int().min(1).max(10_000),
    startDelayMs: ms,
    idleMs: ms,
  }),
]);
export type Pool = z.infer<typeof Pool>;

export const TraceClass = z.strictObject({
  sizeClass: z.int().min(1).max(1_000_000),
  cpus: z.number().positive().max(1_000_000),
  memoryBytes: z.number().positive().max(mostBytes),
  /** The price of a second of a worker. */
  price: z.number().min(0).max(1e9),
  pool: Pool,
});
export type TraceClass = z.infer<typeof TraceClass>;

export const TraceHeader = z.strictObject({
  format: z.literal(traceFormat),
  name: z.string().min(1).max(200),
  /** In ascending order. */
  classes: z
    .array(TraceClass)
    .min(1)
    .max(64)
    .refine(
      (all) => all.every((each, i) => i === 0 || each.sizeClass > (all[i - 1]?.sizeClass ?? 0)),
      {
        message: "must rise from class to class",
      },
    ),
  /** Which execution is first in the queue of a class. */
  order: z.enum(["first-come", "longest-first"]).default("longest-first"),
  /**
   * How much calendar time passes in a ms of the trace, for data that expires by date.
   *
   * In a generated trace, the executions of several days follow each other without a pause; data that expires after a
   * day must expire accordingly early.
   */
  calendarRate: z.number().min(1).max(1_000_000).default(1),
  /** The probability that the worker of a run is lost before the end. */
  lostRate: share.default(0),
  /** The probability that the farm itself fails a run: its store, its disk. */
  infrastructureRate: share.default(0),
  /** The probability that a run that lacks memory ends with an exit code like any other failure. */
  hiddenOutOfMemoryRate: share.default(0),
});
export type TraceHeader = z.infer<typeof TraceHeader>;

const name = z.string().min(1).max(1_000);

/** The keys of an execution; see src/size-classes/key.ts. Absent if the client sent none. */
export const TraceKeys = z.strictObject({
  action: name,
  target: name.optional(),
  mnemonic: name.optional(),
  platform: name.optional(),
});
export type TraceKeys = z.infer<typeof TraceKeys>;

/**
 * One execution as it is submitted to the farm, with its true needs, which no strategy may know in advance.
 *
 * On c CPUs it runs for serialMs + parallelMs / min(c, width).
 */
export const TraceExecution = z.strictObject({
  /** The time of its submission, from the beginning of the trace. */
  at: ms,
  keys: TraceKeys,
  /** CPU time that one CPU must do alone. */
  serialMs: ms,
  /** CPU time that up to `width` CPUs share. */
  parallelMs: ms.default(0),
  width: z.number().min(1).max(1_000_000).default(1),
  peakMemoryBytes: z.number().min(0).max(mostBytes),
  /** The client's timeout. */
  timeoutMs: z.number().min(1).max(mostMs),
  /** The action's own time limit, whose failure looks like any other: for example a test's limit. */
  ownTimeoutMs: z.number().min(1).max(mostMs).optional(),
  /** The share of its time after which it fails, on every class. */
  failsAt: share.optional(),
  /** It was only measured on one CPU, so its speed on more is unknown. */
  seenOnOneCpu: z.boolean().optional(),
  /** The probability that an attempt fails without a cause, on any class. */
  flakyRate: share.default(0),
});
export type TraceExecution = z.infer<typeof TraceExecution>;

/** Executions in the order of their submission. */
export interface Trace {
  readonly header: TraceHeader;
  readonly executions: readonly TraceExecution[];
}

/** Returns how long it runs when nothing stops it. */
export function durationOn(execution: TraceExecution, cpus: number): number {
  const { serialMs, parallelMs, width } = execution;
  // Less than one CPU slows the serial part, too.
  return Math.round(serialMs / Math.min(1, cpus) + parallelMs / Math.min(cpus, width));
}
