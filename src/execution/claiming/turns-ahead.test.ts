import fc from "fast-check";
import { expect, test } from "vitest";
import { executionId } from "../execution.fixture.ts";
import { type Candidate, orderClaims } from "./order-claims.ts";
import { shareOf, turnsAhead } from "./turns-ahead.ts";

const now = new Date(Date.UTC(2030, 0, 1));

function aLane(lane: number, priority: number, count: number): Candidate[] {
  return Array.from({ length: count }, (_, place) => ({
    id: executionId(),
    sizeClass: 1,
    lane,
    ownerLane: 0,
    // Ours comes last among equal turns, although the count assumes it is first.
    place: lane === 1 ? place : 1_000 + place,
    priority,
    queuedAt: now,
  }));
}

test("the number of turns ahead equals the order of orderClaims", () => {
  const priority = fc.integer({ min: -300, max: 300 });
  const leased = fc.integer({ min: 0, max: 5 });
  fc.assert(
    fc.property(priority, priority, leased, leased, fc.nat(10), (p1, p2, busy1, busy2, before) => {
      const others = aLane(2, p2, 200);
      const ours = aLane(1, p1, before + 1);
      const ordered = orderClaims([...ours, ...others], {
        busy: {
          lanes: new Map([
            [1, busy1],
            [2, busy2],
          ]),
          owners: new Map(),
        },
        now,
        overdueAfterMs: 60_000,
      });
      const mine = ordered.findIndex(({ id }) => id === ours.at(-1)?.id);
      const really = ordered.slice(0, mine).filter(({ lane }) => lane === 2).length;

      const said = turnsAhead(
        { turn: busy1 + before + 1, priority: p1 },
        { priority: p2, leased: busy2 },
      );
      // Two powers of two that should be equal may differ in their last digit.
      expect(Math.abs(Math.min(said, 200) - really)).toBeLessThanOrEqual(1);
    }),
  );
});

test("a priority that is more urgent by 100 doubles the share", () => {
  const open = [
    { lane: 1, ownerLane: 0, priority: -100, leased: 0 },
    { lane: 2, ownerLane: 0, priority: 0, leased: 9 },
  ];

  expect(shareOf(1, open)).toBeCloseTo(2 / 3);
  expect(shareOf(2, open)).toBeCloseTo(1 / 3);
});

test("the share of an owner is divided among its lanes", () => {
  const open = [
    { lane: 1, ownerLane: 7, priority: 0, leased: 0 },
    ...[2, 3, 4].map((lane) => ({ lane, ownerLane: 8, priority: 0, leased: 0 })),
  ];

  expect(shareOf(1, open)).toBeCloseTo(1 / 2);
  expect(shareOf(3, open)).toBeCloseTo(1 / 6);
});
