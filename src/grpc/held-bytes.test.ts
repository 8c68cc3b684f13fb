import { expect, test } from "vitest";
import type { Fault } from "#core/fault.ts";
import { HeldBytes, SharedBytes } from "./held-bytes.ts";

/** A connection, and calls on it that record the fault with which they ended. */
function connection(shared: SharedBytes, caller: string, most = 5_000) {
  let givenUp = 0;
  const held = new HeldBytes({
    most,
    what: `messages of ${caller}`,
    shared,
    caller,
    onGivenUp: () => givenUp++,
  });
  const call = () => {
    const ended: Fault[] = [];
    const claim = held.claim((fault) => {
      ended.push(fault);
      claim.set(0);
    });
    return { ended, set: claim.set };
  };
  return { held, call, givenUp: () => givenUp };
}

const tooMuch = expect.objectContaining({ code: "resource_exhausted" });

test("the largest connection gives up its largest call when another sends more", () => {
  const shared = new SharedBytes(1_000);
  const [large, small] = [connection(shared, "one"), connection(shared, "two")];
  const [first, second] = [large.call(), large.call()];
  first.set(600);
  second.set(390);

  small.call().set(100);

  expect(first.ended).toEqual([tooMuch]);
  expect(second.ended).toEqual([]);
  expect(shared.now).toBe(490);
  expect([large.givenUp(), small.givenUp()]).toEqual([1, 0]);
});

test("whoever has most and wants more is refused itself", () => {
  const shared = new SharedBytes(1_000);
  const [large, small] = [connection(shared, "one"), connection(shared, "two")];
  small.call().set(100);
  const call = large.call();
  call.set(900);

  expect(() => call.set(901)).toThrow(tooMuch);
});

test("many connections of one caller have the share of one", () => {
  const shared = new SharedBytes(1_000);
  const crowd = Array.from({ length: 20 }, () => connection(shared, "one").call());
  for (const call of crowd) call.set(50);
  const other = connection(shared, "two").call();

  // Each connection of the crowd is smaller, but their sum is larger.
  other.set(400);

  expect(other.ended).toEqual([]);
  expect(crowd.filter(({ ended }) => ended.length > 0)).toHaveLength(8);
});

test("a connection that had to give up bytes is not read for a moment", () => {
  const shared = new SharedBytes(1_000);
  const [large, small] = [connection(shared, "one"), connection(shared, "two")];
  large.call().set(950);
  expect(large.held.untilReadable()).toBeUndefined();

  small.call().set(100);

  expect(large.held.untilReadable()).toBeDefined();
  expect(small.held.untilReadable()).toBeUndefined();
});

test("a call in the hands of its handler is not ended, and refuses no small connection", () => {
  const shared = new SharedBytes(1_000);
  const used = connection(shared, "one").call();
  used.set(1_000, true);
  const small = connection(shared, "two").call();

  small.set(10);

  expect(used.ended).toEqual([]);
  expect(small.ended).toEqual([]);
});

test("who came first keeps no more than who comes later", () => {
  const shared = new SharedBytes(1_000);
  const calls = Array.from({ length: 10 }, (_, n) => {
    const { call } = connection(shared, `caller ${n}`);
    return Array.from({ length: 10 }, call);
  });
  for (const ofOne of calls) for (const call of ofOne) call.set(100);

  expect(shared.now).toBeLessThanOrEqual(1_000);
  expect(calls.every((ofOne) => ofOne.some(({ ended }) => ended.length === 0))).toBe(true);
});

test("more bytes wait while handlers use most of them, and not for unfinished messages", async () => {
  const shared = new SharedBytes(1_000);
  const { held, call } = connection(shared, "one");
  const [unfinished, used] = [call(), call()];
  unfinished.set(700);
  expect(held.untilReadable()).toBeUndefined();
  unfinished.set(0);

  used.set(700, true);
  const readable = held.untilReadable();
  expect(readable).toBeDefined();
  used.set(0);
  await readable;

  expect(held.untilReadable()).toBeUndefined();
});
