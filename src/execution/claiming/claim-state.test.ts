import { describe, expect, test } from "vitest";
import {
  type ClaimEffect,
  type ClaimEvent,
  type ClaimState,
  nextClaimState,
  nextRoundState,
  type RoundEvent,
  type RoundState,
} from "./claim-state.ts";

const states: Readonly<Record<string, ClaimState>> = {
  waiting: { kind: "waiting" },
  resting: { kind: "resting" },
  "served, then wait": { kind: "served", afterwards: "wait" },
  "served, then answer": { kind: "served", afterwards: "answer" },
  "served, then give-back": { kind: "served", afterwards: "give-back" },
  answered: { kind: "answered" },
};
const events: readonly ClaimEvent[] = [
  "taken",
  "wait-over",
  "cancelled",
  "left",
  "found",
  "nothing-found",
];

/** All possible steps: from `state: event` to the next state and the effect. */
const steps: Readonly<Record<string, readonly [string, ClaimEffect]>> = {
  "waiting: taken": ["served, then wait", "none"],
  "waiting: wait-over": ["answered", "answer-with-nothing"],
  "waiting: cancelled": ["answered", "answer-with-nothing"],
  "waiting: left": ["answered", "answer-with-nothing"],
  "resting: wait-over": ["answered", "answer-with-nothing"],
  "resting: cancelled": ["answered", "answer-with-nothing"],
  "resting: left": ["answered", "answer-with-nothing"],
  "served, then wait: wait-over": ["served, then answer", "none"],
  "served, then wait: cancelled": ["served, then answer", "none"],
  "served, then wait: left": ["served, then give-back", "none"],
  "served, then wait: found": ["answered", "answer-with-work"],
  "served, then wait: nothing-found": ["waiting", "none"],
  "served, then answer: wait-over": ["served, then answer", "none"],
  "served, then answer: cancelled": ["served, then answer", "none"],
  "served, then answer: left": ["served, then give-back", "none"],
  "served, then answer: found": ["answered", "answer-with-work"],
  "served, then answer: nothing-found": ["answered", "answer-with-nothing"],
  "served, then give-back: wait-over": ["served, then give-back", "none"],
  "served, then give-back: cancelled": ["served, then give-back", "none"],
  "served, then give-back: left": ["served, then give-back", "none"],
  "served, then give-back: found": ["answered", "give-work-back"],
  "served, then give-back: nothing-found": ["answered", "answer-with-nothing"],
  "answered: wait-over": ["answered", "none"],
  "answered: cancelled": ["answered", "none"],
  "answered: left": ["answered", "none"],
};

const allClaimSteps = Object.entries(states).flatMap(([name, state]) =>
  events.map((event) => ({ name, state, event, step: steps[`${name}: ${event}`] })),
);

describe("a claim", () => {
  test.each(allClaimSteps.filter(({ step }) => step !== undefined))(
    "that is $name: $event",
    ({ state, event, step }) => {
      const [next = "", effect] = step ?? [];

      expect(nextClaimState(state, event)).toEqual({ state: states[next], effect });
    },
  );

  test.each(allClaimSteps.filter(({ step }) => step === undefined))(
    "that is $name cannot be $event",
    ({ state, event }) => {
      expect(() => nextClaimState(state, event)).toThrow("cannot be");
    },
  );
});

const roundStates: readonly RoundState[] = ["idle", "owed", "due", "looking", "stopped"];
const roundEvents: readonly RoundEvent[] = [
  "asked",
  "begun",
  "nobody-to-serve",
  "ended",
  "stopped",
];
const roundSteps: Readonly<Record<string, RoundState>> = {
  "idle: asked": "due",
  "owed: asked": "due",
  "due: asked": "due",
  "looking: asked": "due",
  "due: begun": "looking",
  "due: nobody-to-serve": "owed",
  "looking: ended": "idle",
  "due: ended": "due",
};

const allRoundSteps = roundStates.flatMap((state) =>
  roundEvents.map((event) => {
    const isOver = state === "stopped" || event === "stopped";
    return { state, event, next: isOver ? "stopped" : roundSteps[`${state}: ${event}`] };
  }),
);

describe("the rounds of a server", () => {
  test.each(allRoundSteps.filter(({ next }) => next !== undefined))(
    "that are $state: $event",
    ({ state, event, next }) => {
      expect(nextRoundState(state, event)).toBe(next);
    },
  );

  test.each(allRoundSteps.filter(({ next }) => next === undefined))(
    "that are $state cannot be $event",
    ({ state, event }) => {
      expect(() => nextRoundState(state, event)).toThrow("cannot be");
    },
  );
});
