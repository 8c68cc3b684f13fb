import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { takingTurns } from "./take-turns.ts";

test("lets a loop go on for as long as its turn is", () => {
  expect(takingTurns(60_000)()).toBeUndefined();
});

test("lets one of many loops on between two of somebody else's steps, and each in its turn", async () => {
  const ran: number[] = [];
  let isOver = false;
  const loops = Array.from({ length: 5 }, async (_, n) => {
    const turn = takingTurns(0);
    while (!isOver) {
      await turn();
      ran.push(n);
    }
  });
  const mostInAStep: number[] = [];
  for (let step = 0; step < 50; step++) {
    const before = ran.length;
    await setImmediate();
    mostInAStep.push(ran.length - before);
  }
  isOver = true;
  await Promise.all(loops);
  expect(Math.max(...mostInAStep)).toBe(1);
  expect(ran.slice(0, 10)).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
});
