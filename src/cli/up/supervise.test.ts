import { expect, test } from "vitest";
import type { Child } from "./child.ts";
import { supervise } from "./supervise.ts";

/** A child that ends when the test requests it. */
function fakeChild(): Child & { readonly end: (how: string) => void } {
  let end: (how: string) => void = () => {};
  const ended = new Promise<string>((resolve) => (end = resolve));
  return {
    pid: 1,
    ended,
    send: () => {},
    lines: (async function* () {})(),
    stop: async () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    end,
  };
}

test("a child that dies is started again, one that is stopped is not", async () => {
  const started: ReturnType<typeof fakeChild>[] = [];
  const deaths: string[] = [];
  let again = () => {};
  const startedAgain = new Promise<void>((resolve) => (again = resolve));
  const supervised = supervise({
    start: () => {
      started.push(fakeChild());
      if (started.length === 2) again();
      return started.at(-1) ?? fakeChild();
    },
    onDeath: (how) => deaths.push(how),
    graceMs: 1,
  });

  started[0]?.end("exit code 1");
  await startedAgain;
  await supervised.stop();

  expect(deaths).toEqual(["exit code 1"]);
  expect(started).toHaveLength(2);
});

test("one that is stopped while it waits for its next start is not started", async () => {
  let starts = 0;
  let died = () => {};
  const death = new Promise<void>((resolve) => (died = resolve));
  const supervised = supervise({
    start: () => {
      starts += 1;
      const child = fakeChild();
      child.end("exit code 1");
      return child;
    },
    onDeath: () => died(),
    graceMs: 1,
  });

  await death;
  await supervised.stop();

  expect(starts).toBe(1);
});
