import { expect, test } from "vitest";
import { hourlyLimit } from "./hourly-limit.ts";

test("each may do so much an hour", () => {
  let now = new Date("2026-11-22T10:00:00Z");
  const count = hourlyLimit(2, "told of it", { now: () => now });
  count("a");
  count("a");
  count("b");

  expect(() => count("a")).toThrow("a has told of it 2 times within an hour");
  now = new Date("2026-11-22T11:00:00Z");
  count("a");
});
