import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runWhenIdle } from "./run-when-idle.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function place(most = 100) {
  const done: string[] = [];
  const quiet = runWhenIdle(most);
  const put = (...names: string[]) => {
    for (const name of names) quiet.put(async () => void done.push(name));
  };
  return { done, quiet, put };
}

test("runs nothing while more work arrives", async () => {
  const { done, put, quiet } = place();
  for (const name of ["a", "b", "c"]) {
    put(name);
    await vi.advanceTimersByTimeAsync(140);
  }
  expect(done).toEqual([]);

  await vi.advanceTimersByTimeAsync(10);
  while (quiet.undone > 0) await new Promise((resolve) => setImmediate(resolve));

  expect(done).toEqual(["a", "b", "c"]);
});

test("a long queue does not wait, and `now` finishes all work in order", async () => {
  const { done, put, quiet } = place(3);
  put("a", "b", "c", "d");
  expect(quiet.undone).toBe(4);

  await quiet.now();

  expect(done).toEqual(["a", "b", "c", "d"]);
  expect(quiet.undone).toBe(0);
});
