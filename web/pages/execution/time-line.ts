import type { ExecutionDetail } from "#api/execution.ts";

export interface Span {
  readonly name: "queued" | "pulling" | "starting" | "executing";
  readonly ms: number;
  /** It has not ended. */
  readonly isOpen: boolean;
}

type Times = Pick<ExecutionDetail, "queuedAt" | "leasedAt" | "startedAt" | "finishedAt" | "image">;

/**
 * Returns how an execution spent its time: in the queue, with a worker that pulled its image and then prepared its
 * inputs, and running.
 */
export function timeLine(times: Times, now: number): Span[] {
  const queuedAt = Date.parse(times.queuedAt);
  const at = (time: string | null) => (time === null ? undefined : Date.parse(time));
  const leasedAt = at(times.leasedAt);
  const startedAt = at(times.startedAt);
  const finishedAt = at(times.finishedAt);
  const pulledMs = times.image?.pulledMs ?? 0;
  const pulledAt = leasedAt === undefined || pulledMs === 0 ? undefined : leasedAt + pulledMs;
  const spans: (readonly [Span["name"], number | undefined, number | undefined])[] = [
    ["queued", queuedAt, leasedAt ?? finishedAt],
    ["pulling", pulledAt === undefined ? undefined : leasedAt, pulledAt],
    ["starting", pulledAt ?? leasedAt, startedAt ?? finishedAt],
    ["executing", startedAt, finishedAt],
  ];
  return spans.flatMap(([name, from, to]) =>
    from === undefined
      ? []
      : [{ name, ms: Math.max(0, (to ?? now) - from), isOpen: to === undefined }],
  );
}
