import { once } from "node:events";
import { utimesSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { holderOf, takeLock } from "./holder-lock.ts";
import { type LockRecord, lockRecordText, ownRecord } from "./lock-record.ts";
import { MeasuringLock } from "./measuring-lock.ts";
import { ownOwner } from "./owner.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-lock-"));
afterAll(() => rm(dir, { recursive: true, force: true }));
const never = new AbortController().signal;

/** Returns the record of a holder that differs from this process in some fields. */
const written = (different: Partial<LockRecord>) =>
  lockRecordText({ ...ownRecord("other"), ...different });

test("a lock has one holder, whose name others get, and it is free afterwards", async () => {
  const path = join(dir, "a");
  const first = await takeLock(path, "lab-1");

  const holder = { name: "lab-1", pid: process.pid, where: `process ${process.pid}` };
  expect(await takeLock(path, "lab-2")).toMatchObject({ holder });
  expect(holderOf(path)).toMatchObject(holder);

  if ("lock" in first) await first.lock.release();
  expect(holderOf(path)).toBeUndefined();
  const next = await takeLock(path, "lab-2");
  expect(next).toHaveProperty("lock");
  if ("lock" in next) await next.lock.release();
  expect((await readdir(dir)).filter((name) => name.startsWith("a"))).toEqual([]);
});

test("of many processes that find the lock of an ended process, one gets it", async () => {
  const path = join(dir, "b");
  // Given the lock of a process whose process id is in use again
  await writeFile(path, written({ owner: ownOwner().replace(/-\d+-/, "-1-") }));
  expect(holderOf(path)).toBeUndefined();

  const all = await Promise.all(
    Array.from({ length: 12 }, (_, index) => takeLock(path, `lab-${index}`)),
  );

  expect(all.filter((each) => "lock" in each)).toHaveLength(1);
  expect(holderOf(path)).toBeDefined();
});

test("without a kernel lock, the heartbeat of a remote holder keeps its lock, and silence releases it", async () => {
  const path = join(dir, "elsewhere");
  const times = { beatMs: 20, silenceMs: 400, settleMs: 20 };
  const lockFile = async () => "unsupported" as const;
  await writeFile(path, written({ boot: "another", host: "far" }));
  const beating = setInterval(() => utimesSync(path, new Date(), new Date()), 20);
  const waits: number[] = [];

  const refused = await takeLock(path, "lab", { times, lockFile });
  clearInterval(beating);
  const taken = await takeLock(path, "lab", {
    times,
    lockFile,
    waits: (_, ms) => waits.push(ms),
  });

  expect(refused).toMatchObject({
    holder: { name: "other", where: expect.stringContaining("on far, another machine") },
  });
  expect(taken).toHaveProperty("lock");
  expect(waits).toEqual([400]);
  if ("lock" in taken) await taken.lock.release();
});

test("the last holder under another kernel is watched, although this kernel's lock is free", async () => {
  const path = join(dir, "other-kernel");
  await writeFile(path, written({ boot: "another", host: "far" }));
  const beating = setInterval(() => utimesSync(path, new Date(), new Date()), 20);

  const refused = await takeLock(path, "lab");
  clearInterval(beating);

  expect(refused).toHaveProperty("holder");
});

test("without a kernel lock, one of two processes that take a silent lock gets it", async () => {
  const path = join(dir, "at-once");
  const options = {
    times: { beatMs: 50, silenceMs: 200, settleMs: 300 },
    lockFile: async () => "unsupported" as const,
  };
  // Another container of this machine: its process cannot be looked up.
  await writeFile(path, written({ boot: "another" }));

  const all = await Promise.all(["one", "two", "three"].map((lab) => takeLock(path, lab, options)));

  const locks = all.flatMap((each) => ("lock" in each ? [each.lock] : []));
  expect(locks).toHaveLength(1);
  for (const lock of locks) await lock.release();
});

test("a holder is notified when another process has locked its lock", async () => {
  const path = join(dir, "taken-away");
  const times = { beatMs: 20, silenceMs: 400, settleMs: 20 };
  const taken = await takeLock(path, "lab", { times });
  if (!("lock" in taken)) throw new Error("not taken");
  const lost = once(taken.lock.lost, "abort");

  await writeFile(path, written({ boot: "another" }));

  await lost;
  await taken.lock.release();
  expect(await readFile(path, "utf8")).toContain("another");
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

test("when no lock can be created, the error names the lock", async () => {
  await expect(takeLock(join(dir, "none", "lock"), "lab")).rejects.toThrow(
    /cannot make the lock .*none/,
  );
});

test("two collectors that measure in turn both get their turns", async () => {
  const path = join(dir, "d");
  const order: string[] = [];
  const run = async (name: string) => {
    const lock = new MeasuringLock(path, name);
    for (let turn = 0; turn < 2; turn++) {
      const held = await lock.take(never);
      order.push(name);
      // The waiter starts to wait while the lock is held.
      await new Promise((resolve) => setTimeout(resolve, 300));
      await held?.release();
    }
  };

  await Promise.all([run("one"), run("two")]);

  expect(order[0]).not.toBe(order[1]);
  expect(order[2]).toBe(order[0]);
});

test("an aborted process stops waiting for the lock", async () => {
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
