import { z } from "zod";

const Count = z.number().int().nonnegative();

/**
 * An event of the Trace Event Format, which Chrome's tracing page, Perfetto and Speedscope read. Times in µs.
 *
 * `X`: with a duration; `i`: of one moment; `M`: names a process or a thread.
 */
const TraceEvent = z.object({
  name: z.string(),
  cat: z.string().optional(),
  ph: z.enum(["X", "M", "i"]),
  ts: z.number().optional(),
  dur: z.number().optional(),
  pid: Count,
  tid: Count,
  /** The scope of an instant event. */
  s: z.literal("t").optional(),
  args: z.record(z.string(), z.string()).optional(),
});
export type TraceEvent = z.infer<typeof TraceEvent>;

export const ChromeTrace = z
  .object({
    displayTimeUnit: z.literal("ms"),
    otherData: z.record(z.string(), z.string()).optional(),
    traceEvents: z.array(TraceEvent),
  })
  .meta({ id: "ChromeTrace" });
export type ChromeTrace = z.infer<typeof ChromeTrace>;

/** A row of a trace. */
export interface TraceRow {
  readonly pid: number;
  readonly tid: number;
}

export function processName(pid: number, name: string): TraceEvent {
  return { name: "process_name", ph: "M", pid, tid: 0, args: { name } };
}

export function threadName({ pid, tid }: TraceRow, name: string): TraceEvent {
  return { name: "thread_name", ph: "M", pid, tid, args: { name } };
}

/** Returns the times of an event with a duration, from times in ms. */
export function duration(fromMs: number, toMs: number) {
  return { ph: "X", ts: fromMs * 1_000, dur: (toMs - fromMs) * 1_000 } as const;
}
