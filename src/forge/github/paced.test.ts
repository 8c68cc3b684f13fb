import { expect, onTestFinished, test, vi } from "vitest";
import { pacedByKey } from "./paced.ts";

const none = () => Promise.resolve();

test("runs a limited number of tasks at a time, in the order of their arrival", async () => {
  const paced = pacedByKey(2, 0, none).key("a");
  let running = 0;
  let most = 0;
  const started: number[] = [];

  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      paced.schedule({}, async () => {
        started.push(at);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      }),
    ),
  );

  expect(most).toBe(2);
  expect(started).toEqual(Array.from({ length: 20 }, (_, at) => at));
});

test("starts tasks at intervals, separately for each key", async () => {
  const waits: number[] = [];
  const groups = pacedByKey(1, 1_000, async (ms) => {
    waits.push(ms);
  });

  for (let at = 0; at < 3; at++) await groups.key("a").schedule({}, none);
  const afterA = waits.length;
  await groups.key("b").schedule({}, none);

  expect(afterA).toBe(2);
  expect(waits.length).toBe(afterA);
  expect(waits[1]).toBeGreaterThan(1_000);
});

test("continues after a failed task", async () => {
  const paced = pacedByKey(1, 0, none).key("a");

  await expect(paced.schedule({}, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await paced.schedule({}, async (word: string) => word, "yes")).toBe("yes");
});

test("does not start a task that waited too long, and continues with the next", async () => {
  // Uses fake timers: with real ones on a loaded machine, the last task could wait too long, too.
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const paced = pacedByKey(1, 0, none, 20).key("a");
  const done: string[] = [];
  const first = paced.schedule({}, () => new Promise((resolve) => setTimeout(resolve, 60)));

  const late = paced.schedule({}, async () => done.push("late"));
  const [refused] = await Promise.all([
    late.catch((reason: unknown) => reason),
    vi.advanceTimersByTimeAsync(60),
  ]);

  expect(refused).toMatchObject({ code: "unavailable" });
  await first;
  await paced.schedule({}, async () => done.push("next"));
  expect(done).toEqual(["next"]);
});
