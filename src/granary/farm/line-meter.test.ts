import { expect, test } from "vitest";
import { lineMeter } from "./line-meter.ts";

const megabyte = 1_000_000;

test("a line is as long as its quickest answer, and as fast as the middle of what came", () => {
  const meter = lineMeter();
  for (const ms of [80, 21, 35]) meter.answered(ms);
  // The first one ran with uncompiled code; the last one was already buffered in the kernel.
  for (const ms of [200, 50, 48, 52, 1]) meter.came(megabyte, ms);

  expect(meter.line()).toEqual({ roundTripMs: 21, bytesPerSecond: 20 * megabyte });
});

test("a line that becomes slower is known to be", () => {
  const meter = lineMeter();
  meter.answered(20);
  for (let n = 0; n < 100; n++) meter.came(megabyte, 10);
  for (let n = 0; n < 5; n++) meter.came(megabyte, 1_000);

  expect(meter.line()?.bytesPerSecond).toBe(megabyte);
});

test("nothing is said of a line that has answered nothing, and a few packets do not say how fast it is", () => {
  const meter = lineMeter();
  meter.came(megabyte, 10);
  expect(meter.line()).toBeUndefined();

  const other = lineMeter();
  other.answered(20);
  other.came(1_000, 500);
  expect(other.line()).toEqual({ roundTripMs: 20, bytesPerSecond: 12_500_000 });
});
