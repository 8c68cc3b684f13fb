import { expect, test } from "vitest";
import { consecutiveDeaths, restartDelayMs } from "./restart-delay.ts";

test("a process that dies at each start is started ever more slowly, but always again", () => {
  let deaths = 0;
  const delays = Array.from({ length: 12 }, () => {
    deaths = consecutiveDeaths(deaths, 50);
    return restartDelayMs(deaths);
  });

  expect(delays.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(delays.at(-1)).toBe(10_000);
});

test("one that was well for a while is started again at once", () => {
  expect(restartDelayMs(consecutiveDeaths(9, 60_000))).toBe(100);
});
