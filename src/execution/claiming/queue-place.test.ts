import fc from "fast-check";
import { expect, test } from "vitest";
import { queuePlace } from "./queue-place.ts";

const now = Date.UTC(2030, 0, 1);
const place = (ageMs: number, priority = 0, expectedDurationMs?: number) =>
  queuePlace({
    queuedAt: new Date(now - ageMs),
    priority,
    expectedDurationMs,
    timeoutMs: 3_600_000,
  });

test.each([
  {
    what: "the longer of two that came together",
    first: place(0, 0, 9_000),
    second: place(0, 0, 1_000),
  },
  { what: "one of unknown length before a short one", first: place(0), second: place(0, 0, 1_000) },
  {
    what: "the older, though it is shorter",
    first: place(20_000, 0, 1_000),
    second: place(0, 0, 9_000),
  },
  { what: "the more urgent", first: place(0, -1, 1_000), second: place(0, 0, 9_000) },
  {
    what: "one that waited longer than its priority is worth",
    first: place(110_000, 10),
    second: place(0),
  },
])("the first execution is $what", ({ first, second }) => {
  expect(first).toBeLessThan(second);
});

test("each place is an integer that the database stores exactly", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date(Date.UTC(2130, 0)), noInvalidDate: true }),
      fc.integer(),
      fc.option(fc.double({ min: 0, noNaN: true }), { nil: undefined }),
      (queuedAt, priority, expectedDurationMs) => {
        const found = queuePlace({ queuedAt, priority, expectedDurationMs, timeoutMs: 1 });
        expect(Number.isSafeInteger(found)).toBe(true);
      },
    ),
  );
});
