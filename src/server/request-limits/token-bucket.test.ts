import { expect, test } from "vitest";
import { type Bucket, takeToken } from "./token-bucket.ts";

const refill = { burst: 3, perMinute: 60 };

/** Takes a token at each time; returns the waits. */
function waitsAt(...times: readonly number[]): number[] {
  let bucket: Bucket | undefined;
  return times.map((nowMs) => {
    const taken = takeToken(bucket, refill, nowMs);
    bucket = taken.bucket;
    return taken.waitMs;
  });
}

test("a burst is accepted, then one request for each interval", () => {
  expect(waitsAt(0, 0, 0, 0, 500, 1_000, 1_000)).toEqual([0, 0, 0, 1_000, 500, 0, 1_000]);
});

test("a caller that rests gets its burst back, and no more", () => {
  expect(waitsAt(0, 0, 0, 3_600_000, 3_600_000, 3_600_000, 3_600_000)).toEqual([
    0, 0, 0, 0, 0, 0, 1_000,
  ]);
});
