import { z } from "zod";
import type { RunOutcome } from "#api/graph.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import type { SetAside } from "../advancing/job-progress.ts";
import { dummyEnd } from "./dummy-end.ts";

/** The kinds of job that the server runs itself: they have no action, and no worker sees them. */
export const ServerJobKind = z.enum(["breakpoint", "timer", "notify", "dummy"]);
export type ServerJobKind = z.infer<typeof ServerJobKind>;

/** The end of a run that the server itself executed. */
export interface ServerJobEnd {
  readonly outcome: RunOutcome;
  /** For people; null without a message. */
  readonly message: string | null;
  readonly exitCode: number | null;
  readonly failureClass: string | null;
  /** Its result: an REv2 ActionResult, binary. */
  readonly result: Uint8Array | null;
  /** The reason why its job's state differs from the run's outcome. */
  readonly setAside: SetAside | null;
}

export const succeeded: ServerJobEnd = {
  outcome: "succeeded",
  message: null,
  exitCode: null,
  failureClass: null,
  result: null,
  setAside: null,
};

/** Returns how a run that is due ends. */
export function endWhenDue(
  job: {
    readonly kind: ServerJobKind;
    readonly name: string;
    readonly definition: JobDefinition;
    /** For a notification: why it could not be sent to an address; null when all were sent. */
    readonly undelivered: string | null;
  },
  run: number,
): ServerJobEnd {
  switch (job.kind) {
    case "breakpoint":
      return outOfRetries(job.definition);
    case "timer":
      return succeeded;
    case "notify":
      return job.undelivered === null
        ? succeeded
        : { ...succeeded, outcome: "failed", message: job.undelivered };
    case "dummy":
      return dummyEnd(job.name, job.definition, run);
  }
}

function outOfRetries(definition: JobDefinition): ServerJobEnd {
  const message = `it was not released within ${definition.patience ?? "its time"}`;
  const over: ServerJobEnd = { ...succeeded, outcome: "timed_out", message };
  switch (definition["on-expiry"] ?? "fail") {
    case "fail":
      return over;
    case "skip-good":
      return { ...over, setAside: "expired-good" };
    case "skip-bad":
      return { ...over, setAside: "expired-bad" };
  }
}
