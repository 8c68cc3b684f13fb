import { expect, test } from "vitest";
import { dueReading, permittedUntil, readingTimes } from "./due-readings.ts";

const checkedAt = new Date("2026-01-01T00:00:00Z");
const after = (minutes: number) => new Date(checkedAt.getTime() + minutes * 60_000);

test.each([
  [0, "known"],
  [4.9, "known"],
  [5, "renew"],
  [14.9, "renew"],
  [15, "await"],
  [1_000, "await"],
] as const)("an answer of %d min ago is %s", (minutes, due) => {
  expect(dueReading({ permission: "read", checkedAt }, after(minutes), readingTimes)).toBe(due);
});

test("a permission that no call has read is awaited", () => {
  expect(dueReading(undefined, checkedAt, readingTimes)).toBe("await");
});

test.each([
  ["read", "read", true],
  ["admin", "read", true],
  ["read", "write", false],
  ["none", "read", false],
  ["admin", "nobody", false],
] as const)("%s where %s is needed lets read: %s", (permission, needed, may) => {
  const until = permittedUntil({ permission, checkedAt }, needed, readingTimes);

  expect(until).toEqual(may ? after(15) : undefined);
});
