import type { GapCause, WorkerTimeline } from "#api/worker-timeline.ts";

/** Returns the made-up timeline of some workers: each lane alternates runs with gaps of each cause. */
export function madeUpTimeline(
  now: Date,
  minutes: number,
  workers: readonly { readonly name: string; readonly slots: number }[],
  mostRuns = 400,
): WorkerTimeline {
  const length = minutes * 60_000;
  const labels = ["unit/cas", "unit/graphs", "lint", "build/server", "CppCompile //src:main"];
  const outcomes = ["succeeded", "succeeded", "succeeded", "failed", "cancelled"] as const;
  const causes: readonly GapCause[] = ["no work", "no work", "draining", "lost"];
  const lanes = workers.flatMap(({ slots }, worker) =>
    Array.from({ length: slots }, (_, lane) => ({ worker, lane })),
  );
  const perLane = Math.max(1, Math.floor(mostRuns / Math.max(1, lanes.length)));
  const step = length / perLane;
  const timeline: WorkerTimeline = {
    from: new Date(now.getTime() - length).toISOString(),
    to: now.toISOString(),
    isCut: false,
    workers: workers.map(({ name, slots }) => ({
      name,
      lanes: slots,
      executingMs: slots * length * 0.6,
      inputMs: slots * length * 0.1,
      noWorkMs: slots * length * 0.2,
      drainingMs: slots * length * 0.06,
      lostMs: slots * length * 0.04,
    })),
    labels,
    runs: {
      execution: [],
      worker: [],
      lane: [],
      label: [],
      leasedMs: [],
      startedMs: [],
      endedMs: [],
      outcome: [],
    },
    gaps: { worker: [], lane: [], fromMs: [], toMs: [], cause: [] },
  };
  const { runs, gaps } = timeline;
  for (const { worker, lane } of lanes) {
    for (let n = 0; n < perLane; n++) {
      const number = n + lane * 3 + worker * 7;
      const from = n * step;
      const end = from + step * (0.5 + 0.4 * ((number % 5) / 5));
      const isLast = n === perLane - 1;
      runs.execution.push(
        `0199aaaa-0000-7000-8000-${String(runs.execution.length).padStart(12, "0")}`,
      );
      runs.worker.push(worker);
      runs.lane.push(lane);
      runs.label.push(number % labels.length);
      runs.leasedMs.push(from);
      runs.startedMs.push(from + step * 0.1);
      runs.endedMs.push(isLast ? length : end);
      runs.outcome.push(isLast ? null : (outcomes[number % outcomes.length] ?? "succeeded"));
      if (isLast) continue;
      gaps.worker.push(worker);
      gaps.lane.push(lane);
      gaps.fromMs.push(end);
      gaps.toMs.push(from + step);
      gaps.cause.push(causes[number % causes.length] ?? "no work");
    }
  }
  return timeline;
}
