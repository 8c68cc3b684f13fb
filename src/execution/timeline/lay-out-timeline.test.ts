import { describe, expect, test } from "vitest";
import {
  drainedPeriods,
  layOutTimeline,
  type PositionedRun,
  type TimelineWorker,
} from "./lay-out-timeline.ts";

const period = { from: 0, to: 100 };
const worker: TimelineWorker = {
  name: "barn",
  slots: 1,
  registeredAt: 0,
  lastSeenAt: 100,
  isLost: false,
  drained: [],
};
const run = (leasedAt: number, endedAt: number, endedLost = false): PositionedRun => ({
  worker: "barn",
  leasedAt,
  startedAt: leasedAt,
  endedAt,
  endedLost,
});
const gapsOf = (of: Partial<TimelineWorker>, runs: readonly PositionedRun[]) =>
  layOutTimeline(period, [{ ...worker, ...of }], runs).gaps.map(({ lane, from, to, cause }) =>
    [lane, from, to, cause].join(" "),
  );

describe("runs are arranged", () => {
  test("one after the other in a lane, and at the same time in several", () => {
    const { lanes, counts } = layOutTimeline(
      period,
      [{ ...worker, slots: 2 }],
      [run(40, 60), run(0, 30), run(10, 50)],
    );

    expect(lanes).toEqual([0, 0, 1]);
    expect(counts).toEqual([2]);
  });

  test("in an additional lane when the worker had more slots before", () => {
    const { lanes, counts } = layOutTimeline(period, [worker], [run(0, 50), run(10, 20)]);

    expect(lanes).toEqual([0, 1]);
    expect(counts).toEqual([2]);
  });
});

describe("a gap", () => {
  test("without another cause had no work", () => {
    expect(gapsOf({}, [run(10, 20), run(50, 100)])).toEqual(["0 0 10 no work", "0 20 50 no work"]);
  });

  test("does not begin before the worker registered", () => {
    expect(gapsOf({ registeredAt: 70 }, [])).toEqual(["0 70 100 no work"]);
    expect(gapsOf({ registeredAt: 70 }, [run(30, 40)])).toEqual(["0 40 100 no work"]);
  });

  test("is divided where a drain begins and ends", () => {
    expect(gapsOf({ drained: [{ from: 30, to: 60 }] }, [run(0, 20)])).toEqual([
      "0 20 30 no work",
      "0 30 60 draining",
      "0 60 100 no work",
    ]);
  });

  test('has the cause "lost" from the last heartbeat of a lost worker, drained or not', () => {
    const drained = [{ from: 50, to: 100 }];
    expect(gapsOf({ lastSeenAt: 80, isLost: true, drained }, [run(0, 20)])).toEqual([
      "0 20 50 no work",
      "0 50 80 draining",
      "0 80 100 lost",
    ]);
  });

  test('has the cause "lost" between a lost attempt and the next registration of the worker', () => {
    expect(gapsOf({ registeredAt: 60 }, [run(0, 20, true), run(80, 100)])).toEqual([
      "0 20 60 lost",
      "0 60 80 no work",
    ]);
  });
});

describe("drains", () => {
  test.each([
    { title: "an end without a begin", changes: [{ at: 40, isBegin: false }], drained: [[0, 40]] },
    { title: "a begin without an end", changes: [{ at: 40, isBegin: true }], drained: [[40, 100]] },
    {
      title: "a second begin changes the reason only",
      changes: [
        { at: 10, isBegin: true },
        { at: 20, isBegin: true },
        { at: 30, isBegin: false },
      ],
      drained: [[10, 30]],
    },
  ])("$title", ({ changes, drained }) => {
    expect(drainedPeriods(changes, period).map(({ from, to }) => [from, to])).toEqual(drained);
  });
});
