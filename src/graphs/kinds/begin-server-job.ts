import { parseDuration } from "#definitions/duration.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { dummyEnd } from "./dummy-end.ts";
import { nextTimeOfDay } from "./next-time-of-day.ts";
import type { ServerJobEnd, ServerJobKind } from "./server-job-end.ts";

/** How a run that the farm serves begins. */
type ServerJobBegin =
  /** It waits until `dueAt`; null: until a person continues it. */
  | { readonly kind: "waits"; readonly dueAt: Date | null }
  /** It runs until `dueAt`; null when another event ends it. */
  | { readonly kind: "runs"; readonly dueAt: Date | null }
  | ({ readonly kind: "over" } & ServerJobEnd);

/** `run` is its number, from 1. */
export function beginServerJob(
  job: { readonly kind: ServerJobKind; readonly name: string; readonly definition: JobDefinition },
  run: number,
  now: Date,
): ServerJobBegin {
  const { definition } = job;
  switch (job.kind) {
    case "breakpoint": {
      const patience = definition.patience && parseDuration(definition.patience);
      return { kind: "waits", dueAt: patience ? later(now, patience) : null };
    }
    case "timer": {
      const { at, timezone = "UTC", after = "0s" } = definition;
      const dueAt =
        at === undefined ? later(now, parseDuration(after) ?? 0) : nextTimeOfDay(now, at, timezone);
      return { kind: "waits", dueAt };
    }
    case "notify":
      return { kind: "runs", dueAt: null };
    case "dummy": {
      const takes = parseDuration(definition.dummy?.after ?? "0s") ?? 0;
      if (takes > 0) return { kind: "runs", dueAt: later(now, takes) };
      return { kind: "over", ...dummyEnd(job.name, definition, run) };
    }
  }
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
