import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orderTransfer, type WantedTransfer } from "./order-transfer.ts";

const unlimited = { bytes: Number.MAX_SAFE_INTEGER, results: Number.MAX_SAFE_INTEGER };
const mbit = 125_000;

function wanted(count: number, of: (at: number) => Partial<WantedTransfer<number>>) {
  return Array.from(
    { length: count },
    (_, at): WantedTransfer<number> => ({
      item: at,
      bytes: 1_000,
      firstMs: 0,
      savedMs: undefined,
      confidence: 1,
      ...of(at),
    }),
  );
}

const anyWanted = fc
  .array(
    fc.record({
      bytes: fc.nat(1_000_000),
      firstMs: fc.nat(20_000),
      savedMs: fc.option(fc.nat(5_000), { nil: undefined }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { maxLength: 60 },
  )
  .map((all) => all.map((one, item) => ({ item, ...one })));

const anyOptions = fc
  .record({
    line: fc.record({
      roundTripMs: fc.nat(200),
      bytesPerSecond: fc.constantFrom(0, 10_000, 1_000_000, 12_500_000, Infinity),
    }),
    limits: fc.record({ bytes: fc.nat(20_000_000), results: fc.nat(70) }),
    elapsedMs: fc.integer({ min: -5_000, max: 5_000 }),
    toleratedMs: fc.constantFrom(0, 100, Infinity, undefined),
  })
  .map(({ toleratedMs, ...more }) => (toleratedMs === undefined ? more : { ...more, toleratedMs }));

describe("for any wanted items and any line", () => {
  test("each item is in the order once, or left out once with a reason, within the limits", () => {
    fc.assert(
      fc.property(anyWanted, anyOptions, (all, options) => {
        const { order, leftOut, bytes } = orderTransfer(all, options);

        const told = [...order, ...leftOut.map(({ item }) => item)].sort((a, b) => a - b);
        expect(told).toEqual(all.map(({ item }) => item));
        expect(order.length).toBeLessThanOrEqual(options.limits.results);
        expect(bytes).toBeLessThanOrEqual(options.limits.bytes);
        expect(bytes).toBe(order.reduce((sum, item) => sum + (all[item]?.bytes ?? 0), 0));
      }),
    );
  });

  test("late items precede items in time only if they take at most 50 ms", () => {
    fc.assert(
      fc.property(anyWanted, anyOptions, (all, options) => {
        const { order, behind } = orderTransfer(all, options);

        const bytes = order
          .slice(0, behind)
          .reduce((sum, item) => sum + (all[item]?.bytes ?? 0) + 256, 0);
        expect((bytes / Math.max(1, options.line.bytesPerSecond)) * 1_000).toBeLessThan(50.001);
        const isLateForGood = "toleratedMs" in options && options.toleratedMs === 0;
        expect(behind).toBeLessThanOrEqual(isLateForGood ? 0 : order.length);
      }),
      { numRuns: 500 },
    );
  });

  test("no other late item precedes an item in time", () => {
    fc.assert(
      fc.property(anyWanted, anyOptions, (all, options) => {
        const { order, behind, inTime, demandScale } = orderTransfer(all, options);

        const { line, elapsedMs } = options;
        const toleratedMs = "toleratedMs" in options ? options.toleratedMs : undefined;
        let atMs = line.roundTripMs;
        const late = order.slice(behind, behind + inTime).filter((item) => {
          const { bytes = 0, firstMs = 0 } = all[item] ?? {};
          const costMs = ((bytes + 256) / Math.max(1, line.bytesPerSecond)) * 1_000;
          atMs += costMs;
          const tolerated = toleratedMs ?? line.roundTripMs + costMs;
          return atMs > firstMs * demandScale - elapsedMs + tolerated + 1e-6;
        });
        expect(late).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("on an infinitely fast line the order is that of demand, by quarters of a second", () => {
    fc.assert(
      fc.property(anyWanted, (all) => {
        const line = { roundTripMs: 0, bytesPerSecond: Infinity };
        const { order, inTime } = orderTransfer(all, { line, limits: unlimited, demandScale: 1 });

        const windows = order.map((item) => Math.floor((all[item]?.firstMs ?? 0) / 250));
        expect(windows).toEqual([...windows].sort((a, b) => a - b));
        expect(inTime).toBe(all.length);
      }),
    );
  });
});

test("on a line slower than the build, the transfer begins ahead of the build, then continues from the end", () => {
  // 100 results a second are requested, 50 arrive.
  const all = wanted(1_000, (at) => ({ bytes: 20_000 - 256, firstMs: at * 10 }));
  const line = { roundTripMs: 20, bytesPerSecond: 8 * mbit };

  const { order, inTime, leftOut } = orderTransfer(all, {
    line,
    limits: unlimited,
    demandScale: 1,
  });

  expect(inTime).toBeGreaterThan(495);
  expect(inTime).toBeLessThan(510);
  const first = order.slice(0, inTime);
  expect(first).toEqual([...first].sort((a, b) => a - b));
  const rest = order.slice(inTime);
  expect(rest).toEqual([...rest].sort((a, b) => b - a));
  expect(leftOut.every(({ because }) => because === "too-late")).toBe(true);
});

test("when not all can arrive in time, items that save most per byte are chosen", () => {
  const all = wanted(100, (at) => ({
    bytes: 100_000 - 256,
    firstMs: 1_000,
    savedMs: at % 10 === 0 ? 5_000 : 500,
  }));
  const line = { roundTripMs: 0, bytesPerSecond: 8 * mbit };

  const { order, inTime } = orderTransfer(all, { line, limits: unlimited, demandScale: 1 });

  expect(inTime).toBeLessThan(12);
  expect(order.slice(0, 10).sort((a, b) => a - b)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
});

test("on a fast line the first requests are sent first, even if they arrive late", () => {
  // The whole transfer takes 66 ms; the build begins before the first result arrives.
  const all = wanted(160, (at) => ({ bytes: 5_000, firstMs: at * 5 }));
  const line = { roundTripMs: 20, bytesPerSecond: 100 * mbit };
  const options = { line, limits: unlimited, elapsedMs: 60, demandScale: 1 };

  const { order, behind, inTime } = orderTransfer(all, options);

  expect(behind).toBeGreaterThan(5);
  expect(behind + inTime).toBe(160);
  expect(order).toEqual([...order].sort((a, b) => a - b));
});

test("for a running build, the transfer begins where the build will be, not where it was", () => {
  const all = wanted(100, (at) => ({ firstMs: at * 100 }));
  const line = { roundTripMs: 20, bytesPerSecond: 100 * mbit };

  const plan = orderTransfer(all, { line, limits: unlimited, elapsedMs: 5_000, demandScale: 1 });

  const first = plan.order.slice(0, plan.behind + plan.inTime);
  // The build may have begun a second later than estimated.
  expect(first.every((item) => item >= 40)).toBe(true);
  expect(plan.inTime).toBeGreaterThanOrEqual(49);
});

test("items that take longer to fetch than to make are left out, unless their cost is unknown", () => {
  const all = wanted(3, (at) => ({
    bytes: 10_000_000,
    firstMs: 60_000,
    savedMs: [100, 60_000][at],
  }));
  const line = { roundTripMs: 20, bytesPerSecond: 100 * mbit };

  const { order, leftOut } = orderTransfer(all, { line, limits: unlimited });

  expect(leftOut).toEqual([{ item: 0, because: "not-worth-it" }]);
  expect([...order].sort((a, b) => a - b)).toEqual([1, 2]);
});

test("below the limits, items that save most per byte are kept, in order of demand", () => {
  const all = wanted(10, (at) => ({ firstMs: at * 1_000, savedMs: at < 5 ? 10 : 1_000 }));
  const line = { roundTripMs: 1, bytesPerSecond: 100 * mbit };

  const { order, leftOut } = orderTransfer(all, { line, limits: { bytes: 5_500, results: 9 } });

  expect(order).toEqual([5, 6, 7, 8, 9]);
  expect(leftOut.every(({ because }) => because === "over-budget")).toBe(true);
});

describe("times of a build that made everything", () => {
  // A build of a minute, with 20 MB.
  const cold = wanted(600, (at) => ({ bytes: 33_000, firstMs: at * 100, savedMs: 100 }));

  test("are too long on a fast line: a build with hits requests its results at once", () => {
    const line = { roundTripMs: 20, bytesPerSecond: 1_000 * mbit };

    expect(orderTransfer(cold, { line, limits: unlimited }).demandScale).toBeLessThan(0.2);
  });

  test("are right on a slow line on which nothing arrives, because the build makes everything again", () => {
    const line = { roundTripMs: 20, bytesPerSecond: mbit / 8 };

    const { demandScale } = orderTransfer(
      cold.map((one) => ({ ...one, savedMs: 5_000 })),
      { line, limits: unlimited },
    );

    expect(demandScale).toBeGreaterThan(0.8);
  });
});

test("ten times as many items take little more than ten times as long: a hundred thousand take a fraction of a second", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const some = (count: number) =>
    wanted(count, () => ({
      bytes: Math.floor((random() * 2e10) / count),
      firstMs: Math.floor(random() * 600_000),
      savedMs: random() < 0.5 ? Math.floor(random() * 10_000) : undefined,
      confidence: random(),
    }));
  const line = { roundTripMs: 20, bytesPerSecond: 100 * mbit };
  const cpuMs = (all: readonly WantedTransfer<number>[]) => {
    const before = process.cpuUsage();
    orderTransfer(all, { line, limits: { bytes: 2e9, results: all.length * 0.9 } });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const [few, many] = [some(10_000), some(100_000)];

  // Measured alternately, taking the minimum: other programs on the machine only increase the time.
  const times = [1, 2, 3, 4].map(() => [cpuMs(few), cpuMs(many)] as const);

  const best = (of: 0 | 1) => Math.min(...times.map((pair) => pair[of]));
  expect(best(1)).toBeLessThan(60 * Math.max(best(0), 5));
});
