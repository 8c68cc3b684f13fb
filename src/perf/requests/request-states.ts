import type { RequestState } from "#api/benchmark-request.ts";

/** The events of a request. */
export type RequestEvent =
  /** Its artifact can be had now. */
  | "artifacts-found"
  /** Its jobs were inserted, in the same transaction. */
  | "started"
  /** Nothing that it waits for is open any more. */
  | "ended"
  /** The same, and none of its own jobs came to a good end. */
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

/** The state that follows; undefined where the event cannot happen in this one. */
export function nextState(state: RequestState, event: RequestEvent): RequestState | undefined {
  return follows[state][event];
}

/** Terminal states never change. */
export function hasEnded(state: RequestState): boolean {
  return Object.keys(follows[state]).length === 0;
}
