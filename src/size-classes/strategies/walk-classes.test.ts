import fc from "fast-check";
import { expect, test } from "vitest";
import { drawnPlace, requestedInTurn } from "./walk-classes.ts";

test("a class is considered when all smaller ones were not chosen", () => {
  expect(requestedInTurn([0.5, 0.5, 1])).toEqual([0.5, 0.25, 0.25, 0]);
  expect(requestedInTurn([0, 0])).toEqual([0, 0, 1]);
  expect(requestedInTurn([])).toEqual([1]);
});

test.each([
  { draw: 0, place: 0 },
  { draw: 0.4999, place: 0 },
  { draw: 0.5, place: 1 },
  { draw: 0.7499, place: 1 },
  { draw: 0.75, place: 2 },
  { draw: 0.9999, place: 3 },
])("a draw of $draw falls on place $place", ({ draw, place }) => {
  expect(drawnPlace([0.5, 0.25, 0.125, 0.125], draw)).toBe(place);
});

test("one draw chooses like a draw for each class", () => {
  const share = fc.integer({ min: 0, max: 32 }).map((successes) => successes / 32);
  fc.assert(
    fc.property(fc.array(share, { maxLength: 6 }), (successes) => {
      const probabilities = requestedInTurn(successes);
      const draws = 4_096;
      const chosen = probabilities.map(() => 0);
      for (let i = 0; i < draws; i++) {
        const place = drawnPlace(probabilities, (i + 0.5) / draws);
        chosen[place] = (chosen[place] ?? 0) + 1;
      }

      expect(sum(probabilities)).toBeCloseTo(1, 12);
      // Among the draws that reach a class, the share that chooses it is its own probability.
      probabilities.forEach((probability, place) => {
        expect(Math.abs((chosen[place] ?? 0) - probability * draws)).toBeLessThanOrEqual(1);
      });
    }),
  );
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
