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
  "served, then wait": { kind: "served", then: "wait" },
  "served, then answer": { kind: "served", then: "answer" },
  "served, then give-back": { kind: "served", then: "give-back" },
  answered: { kind: "answered" },
};
const events: readonly ClaimEvent[] = [
  "taken",
  "wait-over",
  "turned-away",
  "left",
  "found",
  "nothing-found",
];

/** All that can happen: `state: event` → the next state, and the effect. */
const steps: Readonly<Record<string, readonly [string, ClaimEffect]>> = {
  "waiting: taken": ["served, then wait", "none"],
  "waiting: wait-over": ["answered", "answer-with-nothing"],
  "waiting: turned-away": ["answered", "answer-with-nothing"],
  "waiting: left": ["answered", "answer-with-nothing"],
  "resting: wait-over": ["answered", "answer-with-nothing"],
  "resting: turned-away": ["answered", "answer-with-nothing"],
  "resting: left": ["answered", "answer-with-nothing"],
  "served, then wait: wait-over": ["served, then answer", "none"],
  "served, then wait: turned-away": ["served, then answer", "none"],
  "served, then wait: left": ["served, then give-back", "none"],
  "served, then wait: found": ["answered", "answer-with-work"],
  "served, then wait: nothing-found": ["waiting", "none"],
  "served, then answer: wait-over": ["served, then answer", "none"],
  "served, then answer: turned-away": ["served, then answer", "none"],
  "served, then answer: left": ["served, then give-back", "none"],
  "served, then answer: found": ["answered", "answer-with-work"],
  "served, then answer: nothing-found": ["answered", "answer-with-nothing"],
  "served, then give-back: wait-over": ["served, then give-back", "none"],
  "served, then give-back: turned-away": ["served, then give-back", "none"],
  "served, then give-back: left": ["served, then give-back", "none"],
  "served, then give-back: found": ["answered", "give-work-back"],
  "served, then give-back: nothing-found": ["answered", "answer-with-nothing"],
  "answered: wait-over": ["answered", "none"],
  "answered: turned-away": ["answered", "none"],
  "answered: left": ["answered", "none"],
};

describe("a claim", () => {
  test.each(Object.keys(states).flatMap((name) => events.map((event) => [name, event] as const)))(
    "that is %s: %s",
    (name, event) => {
      const state = states[name] ?? { kind: "answered" };
      const step = steps[`${name}: ${event}`];

      if (step === undefined) expect(() => nextClaimState(state, event)).toThrow("cannot be");
      else
        expect(nextClaimState(state, event)).toEqual({ state: states[step[0]], effect: step[1] });
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

describe("the rounds of a server", () => {
  test.each(roundStates.flatMap((state) => roundEvents.map((event) => [state, event] as const)))(
    "that are %s: %s",
    (state, event) => {
      const isOver = state === "stopped" || event === "stopped";
      const next = isOver ? "stopped" : roundSteps[`${state}: ${event}`];

      if (next === undefined) expect(() => nextRoundState(state, event)).toThrow("cannot be");
      else expect(nextRoundState(state, event)).toBe(next);
    },
  );
});
