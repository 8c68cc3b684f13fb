import fc from "fast-check";
import { expect, test } from "vitest";
import { RequestState } from "#api/benchmark-request.ts";
import { hasEnded, nextState, type RequestEvent } from "./request-states.ts";

const events: readonly RequestEvent[] = [
  "artifacts-found",
  "started",
  "ended",
  "ended-without-results",
  "cancelled",
];
const none = undefined;

// Every state with every event, in the order of `events`.
const table: Record<RequestState, readonly (RequestState | undefined)[]> = {
  "waiting-for-artifacts": ["artifacts-ready", none, none, none, "cancelled"],
  "artifacts-ready": [none, "in-progress", none, none, "cancelled"],
  "in-progress": [none, none, "completed", "failed", "cancelled"],
  completed: [none, none, none, none, none],
  failed: [none, none, none, none, none],
  cancelled: [none, none, none, none, none],
};
const rows = RequestState.options.flatMap((state) =>
  events.map((event, i) => ({ state, event, next: table[state][i] })),
);

test.each(rows)("$state, $event: $next", ({ state, event, next }) => {
  expect(nextState(state, event)).toBe(next);
});

test("no event changes a terminal state", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RequestState.options),
      fc.array(fc.constantFrom(...events)),
      (state, happened) => {
        let now = state;
        let ended: RequestState | undefined;
        for (const event of happened) {
          if (hasEnded(now)) ended ??= now;
          now = nextState(now, event) ?? now;
        }
        expect(ended ?? now).toBe(now);
      },
    ),
  );
});
