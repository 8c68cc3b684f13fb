import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { holderOf, takeLock } from "./holder-lock.ts";
import { MeasuringLock } from "./measuring-lock.ts";
import { ownOwner } from "./owner.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-lock-"));
afterAll(() => rm(dir, { recursive: true, force: true }));
const never = new AbortController().signal;

test("a lock is held by one, who is named to others, and free after", async () => {
  const path = join(dir, "a");
  const first = await takeLock(path, "lab-1");

  expect(await takeLock(path, "lab-2")).toEqual({ holder: { name: "lab-1", pid: process.pid } });
  expect(holderOf(path)).toEqual({ name: "lab-1", pid: process.pid });

  if ("lock" in first) await first.lock.release();
  expect(holderOf(path)).toBeUndefined();
  const next = await takeLock(path, "lab-2");
  expect(next).toHaveProperty("lock");
  if ("lock" in next) await next.lock.release();
  expect((await readdir(dir)).filter((name) => name.startsWith("a"))).toEqual([]);
});

test("many who find the lock of somebody that is gone: one has it", async () => {
  const path = join(dir, "b");
  // Given the lock of a process whose number is in use again
  const [pid, , namespace] = ownOwner().split("-");
  await writeFile(path, `${pid}-1-${namespace}\ngone\n`);
  expect(holderOf(path)).toBeUndefined();

  const all = await Promise.all(
    Array.from({ length: 12 }, (_, index) => takeLock(path, `lab-${index}`)),
  );

  expect(all.filter((each) => "lock" in each)).toHaveLength(1);
  expect(holderOf(path)).toBeDefined();
});

test.each(["", "half", "1-2\n", "\0\0\0"])(
  "what is no lock (%j) is in nobody's way",
  async (text) => {
    const path = join(dir, "c");
    await writeFile(path, text);

    const taken = await takeLock(path, "lab");

    expect(taken).toHaveProperty("lock");
    if ("lock" in taken) await taken.lock.release();
  },
);

test("where no lock can be made, it is said which", async () => {
  await expect(takeLock(join(dir, "none", "lock"), "lab")).rejects.toThrow(
    /cannot make the lock .*none/,
  );
});

test("two who measure in turn both have their turn", async () => {
  const path = join(dir, "d");
  const order: string[] = [];
  const run = async (name: string) => {
    const lock = new MeasuringLock(path, name);
    for (let turn = 0; turn < 2; turn++) {
      const held = await lock.take(never);
      order.push(name);
      // Whoever waits comes to wait while it is held.
      await new Promise((resolve) => setTimeout(resolve, 300));
      await held?.release();
    }
  };

  await Promise.all([run("one"), run("two")]);

  expect(order[0]).not.toBe(order[1]);
  expect(order[2]).toBe(order[0]);
});

test("who is told to stop does not wait for the lock", async () => {
  const path = join(dir, "e");
  const held = await takeLock(path, "other");
  const stopping = new AbortController();
  const waits: string[] = [];

  const taken = new MeasuringLock(path, "lab").take(stopping.signal, ({ name }) => {
    waits.push(name);
    stopping.abort();
  });

  expect(await taken).toBeUndefined();
  expect(waits).toEqual(["other"]);
  if ("lock" in held) await held.lock.release();
});
