import { expect, test } from "vitest";
import { lineMeter } from "./line-meter.ts";

const megabyte = 1_000_000;

test("a line has the round trip of its fastest answer, and the median speed of its transfers", () => {
  const meter = lineMeter();
  for (const ms of [80, 21, 35]) meter.answered(ms);
  // The first one ran with uncompiled code; the last one was already buffered in the kernel.
  for (const ms of [200, 50, 48, 52, 1]) meter.came(megabyte, ms);

  expect(meter.line()).toEqual({ roundTripMs: 21, bytesPerSecond: 20 * megabyte });
});

test("a line that becomes slower is detected", () => {
  const meter = lineMeter();
  meter.answered(20);
  for (let n = 0; n < 100; n++) meter.came(megabyte, 10);
  for (let n = 0; n < 5; n++) meter.came(megabyte, 1_000);

  expect(meter.line()?.bytesPerSecond).toBe(megabyte);
});

test("nothing is known before the first answer, and a few packets do not show the speed", () => {
  const meter = lineMeter();
  meter.came(megabyte, 10);
  expect(meter.line()).toBeUndefined();

  const other = lineMeter();
  other.answered(20);
  other.came(1_000, 500);
  expect(other.line()).toEqual({ roundTripMs: 20, bytesPerSecond: 12_500_000 });
});
