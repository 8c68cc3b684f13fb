import type { WorkerTimeline } from "#api/worker-timeline.ts";

/** An event of the Trace Event Format, which Chrome's tracing page, Perfetto and Speedscope read. Times in µs. */
interface TraceEvent {
  readonly name: string;
  readonly cat?: string;
  readonly ph: "X" | "M";
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly args: Readonly<Record<string, string | number>>;
}

/** Returns a timeline as a trace: a worker is a process, a slot a thread, and runs and gaps are complete events. */
export function chromeTrace(timeline: WorkerTimeline): {
  readonly displayTimeUnit: "ms";
  readonly otherData: Readonly<Record<string, string>>;
  readonly traceEvents: readonly TraceEvent[];
} {
  const { workers, runs, gaps, labels } = timeline;
  const named = workers.flatMap(({ name, lanes }, worker): TraceEvent[] => [
    { name: "process_name", ph: "M", pid: worker + 1, tid: 0, args: { name } },
    ...Array.from(
      { length: lanes },
      (_, lane): TraceEvent => ({
        name: "thread_name",
        ph: "M",
        pid: worker + 1,
        tid: lane + 1,
        args: { name: `slot ${lane + 1}` },
      }),
    ),
  ]);
  const made: TraceEvent[] = [];
  for (const [n, execution] of runs.execution.entries()) {
    const place = { pid: (runs.worker[n] ?? 0) + 1, tid: (runs.lane[n] ?? 0) + 1 };
    const [leased, ended] = [runs.leasedMs[n] ?? 0, runs.endedMs[n] ?? 0];
    const started = runs.startedMs[n] ?? ended;
    const label = labels[runs.label[n] ?? 0] ?? "";
    const outcome = runs.outcome[n] ?? "running";
    if (started > leased) made.push(span("waiting for input", "input", place, leased, started, {}));
    if (ended > started) {
      const args = { execution, outcome };
      made.push(span(label === "" ? execution : label, outcome, place, started, ended, args));
    }
  }
  for (const [n, cause] of gaps.cause.entries()) {
    const place = { pid: (gaps.worker[n] ?? 0) + 1, tid: (gaps.lane[n] ?? 0) + 1 };
    made.push(span(cause, "gap", place, gaps.fromMs[n] ?? 0, gaps.toMs[n] ?? 0, {}));
  }
  return {
    displayTimeUnit: "ms",
    otherData: { from: timeline.from, to: timeline.to },
    traceEvents: [...named, ...made],
  };
}

function span(
  name: string,
  cat: string,
  place: { readonly pid: number; readonly tid: number },
  fromMs: number,
  toMs: number,
  args: TraceEvent["args"],
): TraceEvent {
  return { name, cat, ph: "X", ...place, ts: fromMs * 1_000, dur: (toMs - fromMs) * 1_000, args };
}
