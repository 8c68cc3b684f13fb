import { expect, test } from "vitest";
import { executionId } from "../execution.fixture.ts";
import { lastLane, topLane } from "./fair-lane.ts";
import { type Candidate, orderClaims } from "./order-claims.ts";

const now = new Date(Date.UTC(2030, 0, 1));
const minute = 60_000;
const ago = (ms: number) => new Date(now.getTime() - ms);

const queued = (lane: number, place: number, changes: Partial<Candidate> = {}): Candidate => ({
  id: executionId(),
  sizeClass: 1,
  lane,
  ownerLane: 0,
  place,
  priority: 0,
  queuedAt: now,
  ...changes,
});
const ordered = (
  candidates: readonly Candidate[],
  lanes = new Map<number, number>(),
  owners = new Map<number, number>(),
) => orderClaims(candidates, { busy: { lanes, owners }, now, overdueAfterMs: 15 * minute });
const lanes = (candidates: readonly Candidate[]) => candidates.map(({ lane }) => lane).join("");

test("lanes take turns, independently of the order and number of their executions", () => {
  const candidates = [queued(1, 1), queued(1, 2), queued(1, 3), queued(2, 8), queued(2, 9)];

  expect(lanes(ordered(candidates))).toBe("12121");
});

test("a lane with many running executions waits until the other lanes have as many", () => {
  const candidates = [queued(1, 1), queued(1, 2), queued(2, 8), queued(2, 9)];

  expect(lanes(ordered(candidates, new Map([[1, 2]])))).toBe("2211");
});

test("a priority that is more urgent by 100 doubles the share", () => {
  const candidates = [1, 2, 3, 4, 5, 6].flatMap((place) => [
    queued(1, place, { priority: -100 }),
    queued(2, place),
  ]);

  expect(lanes(ordered(candidates)).slice(0, 9)).toBe("121121121");
});

test("ten builds of one owner together get as much as one build of another owner", () => {
  const many = Array.from({ length: 10 }, (_, i) => queued(10 + i, i, { ownerLane: 1 }));
  const one = Array.from({ length: 10 }, (_, i) => queued(50, 100 + i, { ownerLane: 2 }));

  const owners = ordered([...many, ...one]).map(({ ownerLane }) => ownerLane);

  expect(owners.join("")).toBe("12".repeat(10));
});

test("an owner with many running executions waits, whichever lane its next execution is in", () => {
  const candidates = [
    queued(1, 1, { ownerLane: 1 }),
    queued(2, 2, { ownerLane: 1 }),
    queued(3, 8, { ownerLane: 2 }),
    queued(3, 9, { ownerLane: 2 }),
  ];

  expect(lanes(ordered(candidates, new Map(), new Map([[1, 2]])))).toBe("3312");
});

test("among lanes with equal turns, the lane that the worker served before comes first", () => {
  const candidates = [queued(1, 1), queued(2, 2), queued(1, 3), queued(2, 4)];
  const busy = { lanes: new Map<number, number>(), owners: new Map<number, number>() };
  const order = (preferredLane?: number) =>
    lanes(orderClaims(candidates, { busy, now, overdueAfterMs: 15 * minute, preferredLane }));

  expect(order()).toBe("1212");
  expect(order(2)).toBe("2121");
});

test("executions of a worker's own size class come first", () => {
  const candidates = [queued(1, 1), queued(2, 2, { sizeClass: 2 })];

  expect(lanes(ordered(candidates, new Map([[2, 50]])))).toBe("21");
});

test("within a lane, executions are ordered by place", () => {
  const candidates = [queued(1, 3), queued(1, 1), queued(1, 2)];

  expect(ordered(candidates).map(({ place }) => place)).toEqual([1, 2, 3]);
});

test("the top class comes before everything else: size class, share, and overdue executions", () => {
  const candidates = [
    queued(1, 1, { queuedAt: ago(60 * minute) }),
    queued(2, 2, { sizeClass: 2, priority: -1_000 }),
    queued(topLane, 9),
    queued(topLane, 8, { priority: 500 }),
  ];

  expect(ordered(candidates, new Map([[topLane, 50]])).map(({ place }) => place)).toEqual([
    8, 9, 1, 2,
  ]);
});

test("overdue executions come before lanes and size classes, ordered by place", () => {
  const candidates = [
    queued(1, 5, { sizeClass: 2 }),
    queued(2, 4, { queuedAt: ago(16 * minute) }),
    queued(3, 3, { queuedAt: ago(17 * minute) }),
    queued(3, 6),
  ];

  expect(lanes(ordered(candidates, new Map([[3, 50]])))).toBe("3213");
});

test.each([
  { what: "a usual one after the bound", priority: 0, afterMs: 15 * minute },
  {
    what: "a low one as much later as its priority says",
    priority: 60,
    afterMs: 25 * minute,
  },
  { what: "a high one no sooner than a usual one", priority: -60, afterMs: 15 * minute },
])("overdue is $what", ({ priority, afterMs }) => {
  const other = queued(1, 1, { priority: -5_000 });
  const first = (waitedMs: number) =>
    ordered([other, queued(2, 2, { priority, queuedAt: ago(waitedMs) })])[0]?.lane;

  expect(first(afterMs)).toBe(1);
  expect(first(afterMs + 1)).toBe(2);
});

test("executions that no client waits for come last, only on their own size class, and whatever their age", () => {
  const last = queued(lastLane, 1, { sizeClass: 4, queuedAt: ago(1_000 * 24 * 60 * minute) });
  const usual = queued(1, 9, { sizeClass: 1, priority: 10_000 });

  expect(ordered([last, usual])).toEqual([usual, last]);
});
