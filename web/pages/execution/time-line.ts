import type { ExecutionDetail } from "#api/execution.ts";

export interface Span {
  readonly name: "queued" | "starting" | "executing";
  readonly ms: number;
  /** It has not ended. */
  readonly isOpen: boolean;
}

type Times = Pick<ExecutionDetail, "queuedAt" | "leasedAt" | "startedAt" | "finishedAt">;

/** Returns how an execution spent its time: in the queue, with a worker that prepared its inputs, and running. */
export function timeLine(times: Times, now: number): Span[] {
  const queuedAt = Date.parse(times.queuedAt);
  const at = (time: string | null) => (time === null ? undefined : Date.parse(time));
  const leasedAt = at(times.leasedAt);
  const startedAt = at(times.startedAt);
  const finishedAt = at(times.finishedAt);
  const spans: (readonly [Span["name"], number | undefined, number | undefined])[] = [
    ["queued", queuedAt, leasedAt ?? finishedAt],
    ["starting", leasedAt, startedAt ?? finishedAt],
    ["executing", startedAt, finishedAt],
  ];
  return spans.flatMap(([name, from, to]) =>
    from === undefined
      ? []
      : [{ name, ms: Math.max(0, (to ?? now) - from), isOpen: to === undefined }],
  );
}
