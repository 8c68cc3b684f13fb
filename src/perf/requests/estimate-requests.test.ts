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
  test("is of the machine that has the most to do", () => {
    const found = estimate([request("a", [job(0), job(0), job(1)])]).get("a");

    expect(found).toEqual({
      startsAt: at(0),
      endsAt: at(200),
      leastEndsAt: at(160),
      mostEndsAt: at(300),
    });
  });

  test("adds up along the queue", () => {
    const found = estimate([
      request("a", [job(0)]),
      request("b", [job(0)]),
      request("c", [job(1)]),
    ]);

    expect(["a", "b", "c"].map((id) => found.get(id)?.startsAt)).toEqual([at(0), at(100), at(200)]);
  });

  test("leaves out what has passed of a job, and what holds nobody up", () => {
    const startedAt = new Date(now.getTime() - 60_000);
    const found = estimate([
      request("a", [job(0, { startedAt }), job(0, { optional: true })], startedAt),
    ]).get("a");

    expect(found).toMatchObject({ startsAt: startedAt.toISOString(), endsAt: at(40) });
  });

  test("has two beside each other where two may be, each machine still doing one thing at a time", () => {
    const found = estimate(
      [request("a", [job(0)]), request("b", [job(1)]), request("c", [job(0)])],
      2,
    );

    expect(["a", "b", "c"].map((id) => found.get(id)?.endsAt)).toEqual([at(100), at(100), at(200)]);
  });

  test("is none where nobody serves a set, nor of what comes after", () => {
    const found = estimate([request("a", [job(0)]), request("b", [job(1)])], 1, () => undefined);

    expect([found.get("a")?.endsAt, found.get("b")?.startsAt]).toEqual([null, null]);
  });

  test("is none of what waits for its artifacts, and that delays nobody", () => {
    const found = estimate([request("a", undefined), request("b", [job(0)])]);

    expect([found.get("a")?.endsAt, found.get("b")?.startsAt]).toEqual([null, at(0)]);
  });

  test("never ends before it starts, nor most before least, and nobody ends later for fewer jobs", () => {
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

describe("what is usual", () => {
  test("is the median of the last of its like, and what nine in ten keep within", () => {
    expect(usualOf([10, 20, 30, 40, 1_000])).toEqual({
      seconds: 30,
      least: expect.closeTo(12),
      most: expect.closeTo(808),
    });
    expect(usualOf([])).toBeUndefined();
  });

  test("is taken from others of its section and target where nobody ever ran it", () => {
    const { optional: _, startedAt: __, ...like } = job(0);
    const usual = medianDurations([{ ...like, seconds: [10] }]);

    expect(usual(like)?.seconds).toBe(10);
    expect(usual({ ...like, profile: "emit" })?.seconds).toBe(10);
    expect(usual({ ...like, target: "y" })).toBeUndefined();
  });
});
