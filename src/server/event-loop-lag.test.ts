import { expect, test } from "vitest";
import { eventLoopLag } from "./event-loop-lag.ts";

test("a block of the event loop is reported by the second reading", async () => {
  let now = 0;
  const lag = eventLoopLag(() => now);
  expect(lag()).toEqual({ meanSeconds: 0, p99Seconds: 0, maxSeconds: 0 });

  // The monitor's own timer must have begun before the block, and must fire after it.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const until = performance.now() + 200;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 50));
  now += 10_000;

  expect(lag().maxSeconds).toBeGreaterThan(0.1);
});
