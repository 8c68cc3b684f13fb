import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateRequests, type JobAhead, medianDurations, usualOf } from "./estimate-requests.ts";

const now = new Date("2026-06-01T00:00:00Z");
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000).toISOString();
const job = (set: number, change: Partial<JobAhead> = {}): JobAhead => ({
  suite: "demo",
  section: "compile",
  target: "x",
  backend: "js",
  profile: "check",
  set,
  pairs: false,
  optional: false,
  startedAt: null,
  ...change,
});
const request = (
  id: string,
  jobs: readonly JobAhead[] | undefined,
  startedAt: Date | null = null,
) => ({
  id,
  suite: "demo",
  startedAt,
  jobs,
});
const hundred = () => ({ seconds: 100, least: 80, most: 150 });
const bySet = (_: string, set: number) => `machine-${set}`;
const estimate = (
  queue: Parameters<typeof estimateRequests>[0],
  atOnce = 1,
  laneOf: Parameters<typeof estimateRequests>[2] = bySet,
  usual: Parameters<typeof estimateRequests>[1] = hundred,
) => estimateRequests(queue, usual, laneOf, () => atOnce, now);

describe("an estimate", () => {
  test("is that of the machine with the most work", () => {
    const found = estimate([request("a", [job(0), job(0), job(1)])]).get("a");

    expect(found).toEqual({
      startsAt: at(0),
      endsAt: at(200),
      leastEndsAt: at(160),
      mostEndsAt: at(300),
    });
  });

  test("is the sum over the queue", () => {
    const found = estimate([
      request("a", [job(0)]),
      request("b", [job(0)]),
      request("c", [job(1)]),
    ]);

    expect(["a", "b", "c"].map((id) => found.get(id)?.startsAt)).toEqual([at(0), at(100), at(200)]);
  });

  test("excludes the elapsed part of a job, and jobs that no request waits for", () => {
    const startedAt = new Date(now.getTime() - 60_000);
    const found = estimate([
      request("a", [job(0, { startedAt }), job(0, { optional: true })], startedAt),
    ]).get("a");

    expect(found).toMatchObject({ startsAt: startedAt.toISOString(), endsAt: at(40) });
  });

  test("has two requests at the same time if allowed, and one job at a time for each machine", () => {
    const found = estimate(
      [request("a", [job(0)]), request("b", [job(1)]), request("c", [job(0)])],
      2,
    );

    expect(["a", "b", "c"].map((id) => found.get(id)?.endsAt)).toEqual([at(100), at(100), at(200)]);
  });

  test("does not exist for a set without a collector, nor for later requests", () => {
    const found = estimate([request("a", [job(0)]), request("b", [job(1)])], 1, () => undefined);

    expect([found.get("a")?.endsAt, found.get("b")?.startsAt]).toEqual([null, null]);
  });

  test("does not exist for a request that waits for its artifacts, which delays no other", () => {
    const found = estimate([request("a", undefined), request("b", [job(0)])]);

    expect([found.get("a")?.endsAt, found.get("b")?.startsAt]).toEqual([null, at(0)]);
  });

  test("never ends before its start, has its maximum after its minimum, and is not later with fewer jobs", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(3), { maxLength: 5 }), { maxLength: 6 }), (sets) => {
        const queue = sets.map((each, i) =>
          request(
            `${i}`,
            each.map((set) => job(set)),
          ),
        );
        const found = estimate(queue);
        const fewer = estimate(queue.map((each) => ({ ...each, jobs: each.jobs?.slice(1) })));
        for (const { id } of queue) {
          const { startsAt, endsAt, leastEndsAt, mostEndsAt } = found.get(id) ?? {};
          expect((startsAt ?? "") <= (endsAt ?? "")).toBe(true);
          expect((leastEndsAt ?? "") <= (mostEndsAt ?? "")).toBe(true);
          expect((fewer.get(id)?.endsAt ?? "") <= (endsAt ?? "")).toBe(true);
        }
      }),
    );
  });
});

describe("the usual duration", () => {
  test("is the median of the latest similar jobs, with the limit for nine of ten", () => {
    expect(usualOf([10, 20, 30, 40, 1_000])).toEqual({
      seconds: 30,
      least: expect.closeTo(12),
      most: expect.closeTo(808),
    });
    expect(usualOf([])).toBeUndefined();
  });

  test("is that of other jobs of its section and target if it never ran", () => {
    const { optional: _, startedAt: __, ...like } = job(0);
    const usual = medianDurations([{ ...like, seconds: [10] }]);

    expect(usual(like)?.seconds).toBe(10);
    expect(usual({ ...like, profile: "emit" })?.seconds).toBe(10);
    expect(usual({ ...like, target: "y" })).toBeUndefined();
  });
});
