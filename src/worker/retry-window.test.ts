import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { RetryWindow } from "./retry-window.ts";

const away = () => Promise.reject(new Fault("unavailable", "the network is gone"));

test("repeats a call until the farm is back", async () => {
  let calls = 0;

  const answer = await new RetryWindow().persistently(async () => {
    calls++;
    return calls < 3 ? away() : "stored";
  });

  expect({ answer, calls }).toEqual({ answer: "stored", calls: 3 });
});

test("does not repeat a call that would fail in the same way", async () => {
  let calls = 0;
  const wrong = () => {
    calls++;
    return Promise.reject(new Fault("invalid_argument", "no such digest"));
  };

  await expect(new RetryWindow().persistently(wrong)).rejects.toThrow("no such digest");
  expect(calls).toBe(1);
});

test("stops at once when the worker stops", async () => {
  const retryWindow = new RetryWindow();
  const call = retryWindow.persistently(away);

  retryWindow.end();

  await expect(call).rejects.toThrow("the network is gone");
});

test.each([
  { leaseMs: 15_000, ms: 60_000 },
  { leaseMs: 1_200_000, ms: 1_200_000 },
])("lasts $ms ms where leases last $leaseMs ms", ({ leaseMs, ms }) => {
  const retryWindow = new RetryWindow();

  retryWindow.outlast(leaseMs);

  expect(retryWindow.ms).toBe(ms);
});
