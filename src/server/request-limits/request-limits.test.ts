import { expect, test } from "vitest";
import { requestLimits } from "#api/request-limits.ts";
import { TooManyRequests } from "#core/too-many-requests.ts";
import { openRequestLimits } from "./request-limits.ts";

const alice = { principal: "alice", address: "192.0.2.1" };
const bob = { principal: "bob", address: "192.0.2.1" };
const stranger = { principal: "anyone", address: "192.0.2.1" };

/** Begins requests until one is refused; returns how many were accepted, and the refusal. */
function untilRefused(begin: () => () => void, isHeld: boolean) {
  for (let accepted = 0; ; accepted++) {
    try {
      const end = begin();
      if (!isHeld) end();
    } catch (reason) {
      if (!(reason instanceof TooManyRequests)) throw reason;
      return { accepted, reason };
    }
  }
}

test("a caller's burst is accepted; then it is told when to try again, and others are not affected", () => {
  let now = 0;
  const limits = openRequestLimits(1, () => now);
  const { accepted, reason } = untilRefused(() => limits.begin("submissions", alice), false);

  expect(accepted).toBe(requestLimits.submissions.burst);
  expect(reason.message).toMatch(/alice at 192\.0\.2\.1 .*6000 a minute; try again in 1 s/);
  for (const other of [bob, stranger, { ...alice, address: "192.0.2.2" }])
    expect(() => limits.begin("submissions", other)).not.toThrow();
  now += reason.retryAfterMs;
  expect(() => limits.begin("submissions", alice)).not.toThrow();
});

test("sign-in counts addresses, whoever signs in", () => {
  const limits = openRequestLimits(1, () => 0);
  untilRefused(() => limits.begin("sign-in", stranger), false);

  expect(() => limits.begin("sign-in", alice)).toThrow(TooManyRequests);
  expect(() => limits.begin("sign-in", { ...stranger, address: "192.0.2.2" })).not.toThrow();
});

test("requests in progress count until they end, each once", () => {
  const limits = openRequestLimits(1, () => 0);
  const first = limits.begin("streams", alice);
  const { accepted } = untilRefused(() => limits.begin("streams", alice), true);
  expect(accepted + 1).toBe(requestLimits.streams.atOnce);

  first();
  first();

  limits.begin("streams", alice);
  expect(() => limits.begin("streams", alice)).toThrow(TooManyRequests);
});

test("a factor changes all limits, and limits can be turned off", () => {
  const half = openRequestLimits(0.5, () => 0);
  const { accepted } = untilRefused(() => half.begin("streams", alice), true);
  expect(accepted).toBe(requestLimits.streams.atOnce / 2);

  const none = openRequestLimits(undefined);
  for (let n = 0; n < 2 * requestLimits.streams.atOnce; n++) none.begin("streams", alice);
});
