import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { letTimePass, letTimeStandStill } from "./still-time.fixture.ts";
import { isAnotherOwnerWaiting, myTurn, shortWork, takingTurns } from "./take-turns.ts";

afterEach(letTimePass);

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

test("goes round among those for whom the loops work, however many loops each has", async () => {
  const went: string[] = [];
  const loop = (who: string) => myTurn(who, 0).then(() => went.push(who));
  await Promise.all([...["much", "much", "much", "much"].map(loop), loop("little"), loop("other")]);
  expect(went).toEqual(["much", "little", "other", "much", "much", "much"]);
});

/** A loop that has worked for a millisecond. */
function stoodInLine() {
  const loop = { wentOn: false };
  void myTurn("somebody", 1).then(() => {
    loop.wentOn = true;
  });
  return loop;
}

async function someSteps() {
  for (let step = 0; step < 5; step++) await setImmediate();
}

test("a loop goes on at once where nothing short is in hand", async () => {
  letTimeStandStill();
  const loop = stoodInLine();
  await someSteps();
  expect(loop.wentOn).toBe(true);
});

test("a loop rests until what is short is over", async () => {
  letTimeStandStill();
  const over = shortWork("somebody");
  const loop = stoodInLine();
  await someSteps();
  expect(loop.wentOn).toBe(false);
  over();
  await someSteps();
  expect(loop.wentOn).toBe(true);
});

test("a loop rests a little longer for somebody else, who may ask for more", async () => {
  letTimeStandStill();
  const over = shortWork("somebody else");
  const loop = stoodInLine();
  over();
  await someSteps();
  expect(loop.wentOn).toBe(false);
  await vi.advanceTimersByTimeAsync(10);
  await someSteps();
  expect(loop.wentOn).toBe(true);
});

test("knows whether anybody else has something short in hand", () => {
  letTimeStandStill();
  const over = shortWork("one");
  expect(isAnotherOwnerWaiting("one")).toBe(false);
  expect(isAnotherOwnerWaiting("another")).toBe(true);
  over();
  vi.advanceTimersByTime(11);
  expect(isAnotherOwnerWaiting("another")).toBe(false);
});

test("however much is short, a loop goes on after a rest", async () => {
  letTimeStandStill();
  const loop = stoodInLine();
  const overs = [shortWork("a"), shortWork("b"), shortWork("b")];
  await someSteps();
  expect(loop.wentOn).toBe(false);
  // The longest rest, and shorter than the wait for short work.
  await vi.advanceTimersByTimeAsync(45);
  await someSteps();
  expect(loop.wentOn).toBe(true);
  for (const over of overs) over();
});

test("nobody rests for what was to be short and is not", async () => {
  letTimeStandStill();
  const over = shortWork("somebody else");
  vi.advanceTimersByTime(1_000);
  const loop = stoodInLine();
  await someSteps();
  expect(loop.wentOn).toBe(true);
  over();
});
