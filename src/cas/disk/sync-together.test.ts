import { expect, test } from "vitest";
import { syncTogether } from "./sync-together.ts";

/** Returns syncs that the test completes. */
function controlled() {
  const begun: { end(): void; fail(reason: Error): void }[] = [];
  const durable = syncTogether(
    () => new Promise((resolve, reject) => begun.push({ end: resolve, fail: reject })),
  );
  return { begun, durable };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("calls during a sync share the next one", async () => {
  const { begun, durable } = controlled();
  const over: string[] = [];
  const waiting = (name: string) => durable().then(() => over.push(name));

  const first = waiting("first");
  await settled();
  const others = ["second", "third"].map(waiting);
  await settled();
  expect(begun).toHaveLength(1);

  begun[0]?.end();
  await first;
  await settled();
  expect(over).toEqual(["first"]);
  expect(begun).toHaveLength(2);

  begun[1]?.end();
  await Promise.all(others);
  expect(over).toEqual(["first", "second", "third"]);
  expect(begun).toHaveLength(2);
});

test("a sync that fails rejects all calls that waited for it, and the next is tried", async () => {
  const { begun, durable } = controlled();

  const failing = [durable(), durable()];
  await settled();
  begun[0]?.fail(new Error("the disk is gone"));
  for (const each of failing) await expect(each).rejects.toThrow("the disk is gone");

  const next = durable();
  await settled();
  begun[1]?.end();
  await expect(next).resolves.toBeUndefined();
});
