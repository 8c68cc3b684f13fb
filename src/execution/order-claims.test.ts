import { expect, test } from "vitest";
import { executionId } from "./execution.fixture.ts";
import { type Candidate, orderClaims } from "./order-claims.ts";

const queued = (lane: number, place: number, changes: Partial<Candidate> = {}): Candidate => ({
  id: executionId(),
  sizeClass: 1,
  lane,
  place,
  priority: 0,
  ...changes,
});
const lanes = (candidates: readonly Candidate[]) => candidates.map(({ lane }) => lane).join("");

test("lanes take turns, whoever came first with however much", () => {
  const candidates = [queued(1, 1), queued(1, 2), queued(1, 3), queued(2, 8), queued(2, 9)];

  expect(lanes(orderClaims(candidates, new Map()))).toBe("12121");
});

test("a lane that has much running waits until the others have as much", () => {
  const candidates = [queued(1, 1), queued(1, 2), queued(2, 8), queued(2, 9)];

  expect(lanes(orderClaims(candidates, new Map([[1, 2]])))).toBe("2211");
});

test("a hundred steps of priority double the share", () => {
  const candidates = [1, 2, 3, 4, 5, 6].flatMap((place) => [
    queued(1, place, { priority: -100 }),
    queued(2, place),
  ]);

  expect(lanes(orderClaims(candidates, new Map())).slice(0, 9)).toBe("121121121");
});

test("a worker's own size class goes first", () => {
  const candidates = [queued(1, 1), queued(2, 2, { sizeClass: 2 })];

  expect(lanes(orderClaims(candidates, new Map([[2, 50]])))).toBe("21");
});

test("within a lane, places decide", () => {
  const candidates = [queued(1, 3), queued(1, 1), queued(1, 2)];

  expect(orderClaims(candidates, new Map()).map(({ place }) => place)).toEqual([1, 2, 3]);
});
