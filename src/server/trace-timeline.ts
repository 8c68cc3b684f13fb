import {
  type ChromeTrace,
  duration,
  processName,
  type TraceEvent,
  type TraceRow,
  threadName,
} from "#api/trace-events.ts";
import type { WorkerTimeline } from "#api/worker-timeline.ts";

/** Returns a timeline as a trace: a worker is a process, a slot a thread, and runs and gaps are complete events. */
export function traceOfTimeline(timeline: WorkerTimeline): ChromeTrace {
  const { workers, runs, gaps, labels } = timeline;
  const named = workers.flatMap(({ name, lanes }, worker): TraceEvent[] => [
    processName(worker + 1, name),
    ...Array.from({ length: lanes }, (_, lane) =>
      threadName({ pid: worker + 1, tid: lane + 1 }, `slot ${lane + 1}`),
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
  row: TraceRow,
  fromMs: number,
  toMs: number,
  args: TraceEvent["args"],
): TraceEvent {
  return { name, cat, ...row, ...duration(fromMs, toMs), args };
}
