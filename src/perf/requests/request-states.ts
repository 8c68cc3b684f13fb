import type { RequestState } from "#api/benchmark-request.ts";

/** The events of a request. */
export type RequestEvent =
  /** Its artifact has become available. */
  | "artifacts-found"
  /** Its jobs were inserted, in the same transaction. */
  | "started"
  /** All jobs for which it waits have ended. */
  | "ended"
  /** The same, but none of its own jobs succeeded. */
  | "ended-without-results"
  | "cancelled";

const follows: Record<RequestState, Partial<Record<RequestEvent, RequestState>>> = {
  "waiting-for-artifacts": { "artifacts-found": "artifacts-ready", cancelled: "cancelled" },
  "artifacts-ready": { started: "in-progress", cancelled: "cancelled" },
  "in-progress": {
    ended: "completed",
    "ended-without-results": "failed",
    cancelled: "cancelled",
  },
  completed: {},
  failed: {},
  cancelled: {},
};

/** Returns the next state; undefined when the event is impossible in this state. */
export function nextState(state: RequestState, event: RequestEvent): RequestState | undefined {
  return follows[state][event];
}

/** Terminal states never change. */
export function hasEnded(state: RequestState): boolean {
  return Object.keys(follows[state]).length === 0;
}
