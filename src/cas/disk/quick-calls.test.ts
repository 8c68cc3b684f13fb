import { expect, test } from "vitest";
import { pausesAfterSlowCalls } from "./quick-calls.ts";

test("two reads of a hard disk make a pause of a second; one late answer among quick ones does not", () => {
  const pauses = pausesAfterSlowCalls();
  const call = (at: number, ms: number) => pauses.note(at, at + ms);

  for (let i = 0; i < 1_000; i++) call(i, i % 100 === 50 ? 5 : 0.005);
  expect(pauses.isNow(1_000)).toBe(false);

  call(2_000, 8);
  call(2_008, 8);
  expect(pauses.isNow(2_017)).toBe(true);
  expect(pauses.isNow(3_015)).toBe(true);
  expect(pauses.isNow(3_017)).toBe(false);
});
