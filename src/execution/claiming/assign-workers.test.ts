import fc from "fast-check";
import { expect, test } from "vitest";
import { assignWorkers, type ClaimToAssign, type Taken } from "./assign-workers.ts";

const seeker = (lastLane?: number, most = 1, instanceId = ""): ClaimToAssign => ({
  instanceId,
  most,
  lastLane,
});
const of = (lane: number, lastHadBy?: string): Taken => ({ lane, lastHadBy });

test("a worker gets executions of the lanes from which it had some before", () => {
  expect(assignWorkers([seeker(1), seeker(2), seeker(3)], [of(3), of(1), of(2)], 500)).toEqual([
    2, 0, 1,
  ]);
});

test("when there are too few executions for all workers, workers that know the lane get them", () => {
  expect(assignWorkers([seeker(1), seeker(), seeker(7)], [of(7)], 500)[0]).toBe(2);
});

test("too few executions are spread over several workers, even if one worker had all of them before", () => {
  const assignments = assignWorkers(
    [seeker(7, 4), seeker(8, 4), seeker(undefined, 4)],
    [of(7), of(7), of(7)],
    500,
  );

  expect(assignments.slice(0, 3).toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
});

test("a worker that ran the same job for the previous commit is preferred to one that ran another job of the lane", () => {
  const seekers = [seeker(7, 1, "a"), seeker(undefined, 1, "b"), seeker(undefined, 1, "c")];

  expect(assignWorkers(seekers, [of(7, "c"), of(7)], 500)).toEqual([2, 0, 1]);
  expect(assignWorkers(seekers, [of(7, "gone")], 500)[0]).toBe(0);
});

test("a worker that had everything before gets no second execution while another worker has none", () => {
  const seekers = [seeker(1, 2, "a"), seeker(1, 1, "b")];

  expect(assignWorkers(seekers, [of(1, "a"), of(1, "a"), of(1, "a")], 500)).toEqual([0, 1, 0]);
});

test("each worker gets as many assignments as it requested, in turns, and no assignment is given twice", () => {
  const seekers = fc.array(
    fc.record({
      most: fc.integer({ min: 1, max: 5 }),
      lastLane: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
      instanceId: fc.constantFrom("a", "b", "c"),
    }),
    { minLength: 1, maxLength: 6 },
  );
  const things = fc.record({
    lane: fc.integer({ min: 0, max: 3 }),
    lastHadBy: fc.option(fc.constantFrom("a", "b", "d"), { nil: undefined }),
  });
  fc.assert(
    fc.property(seekers, fc.array(things), (asking, taken) => {
      const assignments = assignWorkers(asking, taken, 500);

      asking.forEach(({ most }, index) => {
        expect(assignments.filter((assignment) => assignment === index)).toHaveLength(most);
      });
      // No worker is assigned for the (n+1)th time before every possible worker was assigned for the nth.
      const times = new Map<number, number>();
      let turn = 1;
      for (const assignment of assignments) {
        times.set(assignment, (times.get(assignment) ?? 0) + 1);
        expect(times.get(assignment)).toBeGreaterThanOrEqual(turn);
        turn = Math.max(turn, times.get(assignment) ?? 0);
      }
    }),
  );
});
