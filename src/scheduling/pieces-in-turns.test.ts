import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { piecesInTurns } from "./pieces-in-turns.ts";
import { letTimePass, letTimeStandStill } from "./still-time.fixture.ts";
import { shortWork } from "./take-turns.ts";

const piece = new Uint8Array(65_536);

beforeEach(letTimeStandStill);

afterEach(letTimePass);

/** Reads this many pieces, and counts them. */
function reading(count: number) {
  const read = { pieces: 0 };
  async function* body() {
    for (let n = 0; n < count; n++) yield piece;
  }
  const all = (async () => {
    for await (const _ of piecesInTurns(body(), "me")) read.pieces++;
  })();
  return { read, all };
}

test("reads a body at once where nobody else waits", async () => {
  const over = shortWork("me");
  const { read, all } = reading(64);
  await all;
  expect(read.pieces).toBe(64);
  over();
});

test("reads little of a body while somebody else has something short in hand, and all of it in time", async () => {
  const over = shortWork("somebody else");
  const { read, all } = reading(64);
  for (let step = 0; step < 100; step++) await setImmediate();
  expect(read.pieces).toBe(4);

  over();
  await vi.advanceTimersByTimeAsync(11);
  await all;
  expect(read.pieces).toBe(64);
});
