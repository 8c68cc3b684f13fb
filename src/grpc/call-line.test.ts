import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { letTimePass, letTimeStandStill } from "#scheduling/still-time.fixture.ts";
import { shortWork } from "#scheduling/take-turns.ts";
import { CallLine } from "./call-line.ts";

beforeEach(letTimeStandStill);

afterEach(letTimePass);

/** Returns a line, the begun calls, and a function with which a connection starts many calls at once. */
function calls() {
  const line = new CallLine(3);
  const begun: string[] = [];
  const make = (who: string, count: number) => {
    for (let n = 0; n < count; n++) {
      line.begin(who, () => {
        begun.push(who);
        return true;
      });
    }
  };
  return { line, begun, make };
}

async function rounds(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await setImmediate();
}

test("a connection alone begins a few calls in each round, its own short ones in hand or not", async () => {
  const { begun, make } = calls();
  const over = shortWork("one");
  make("one", 1_000);
  expect(begun).toHaveLength(8);
  await rounds(50);
  expect(begun.length).toBeGreaterThan(300);
  expect(begun.length).toBeLessThan(500);
  await rounds(100);
  expect(begun).toHaveLength(1_000);
  over();
});

test("a first call begins at once, however many of a connection that was alone wait", () => {
  const { begun, make } = calls();
  make("many", 1_000);
  make("one", 1);
  expect(begun).toHaveLength(9);
  expect(begun.at(-1)).toBe("one");
});

test("while somebody else has something short in hand, calls begin one after the other", async () => {
  const { begun, make } = calls();
  const over = shortWork("another");
  make("many", 1_000);
  expect(begun).toHaveLength(1);
  await rounds(30);
  expect(begun.length).toBeGreaterThan(5);
  expect(begun.length).toBeLessThan(15);
  over();
});

test("a first call begins at once, however many of another's wait", () => {
  const { begun, make } = calls();
  const over = shortWork("one");
  make("many", 1_000);
  make("one", 1);
  expect(begun).toEqual(["many", "one"]);
  over();
});

test("connections begin as many calls as each other, however many each has", async () => {
  const { begun, make } = calls();
  const over = shortWork("somebody");
  make("many", 1_000);
  make("some", 40);
  make("others", 20);
  await rounds(100);
  const counts = ["many", "some", "others"].map(
    (who) => begun.filter((each) => each === who).length,
  );
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  expect(Math.min(...counts)).toBeGreaterThan(5);
  over();
});

test("what waits goes on without rests once its connection is alone", async () => {
  const { begun, make } = calls();
  const over = shortWork("another");
  make("many", 100);
  over();
  vi.advanceTimersByTime(11);
  await rounds(110);
  expect(begun).toHaveLength(100);
});

test("a call that is over when its turn comes takes nobody's place", async () => {
  const { line, begun, make } = calls();
  const over = shortWork("another");
  make("many", 1);
  for (let n = 0; n < 1_000; n++) line.begin("many", () => false);
  make("many", 1);
  await rounds(5);
  expect(begun).toEqual(["many", "many"]);
  over();
});

test("a connection that began a call some rounds ago does not wait, however many others do", async () => {
  const { begun, make } = calls();
  const over = shortWork("somebody");
  make("one", 1);
  for (let n = 0; n < 500; n++) make(`worker ${n}`, 2);
  await rounds(5);
  make("one", 1);
  expect(begun.at(-1)).toBe("one");
  over();
});

test("where rounds are slow, turns end by time", async () => {
  const { begun, make } = calls();
  const overs = [shortWork("somebody")];
  make("many", 1_000);
  for (let n = 0; n < 10; n++) {
    vi.advanceTimersByTime(20);
    overs.push(shortWork("somebody"));
    await setImmediate();
  }
  // The first one, and one in each round.
  expect(begun).toHaveLength(11);
  for (const over of overs) over();
});

test("many waiting connections begin several calls in a turn", async () => {
  const { begun, make } = calls();
  const over = shortWork("somebody");
  for (let n = 0; n < 500; n++) make(`worker ${n}`, 2);
  expect(begun).toHaveLength(500);
  await rounds(150);
  expect(begun.length).toBeGreaterThan(900);
  over();
});
