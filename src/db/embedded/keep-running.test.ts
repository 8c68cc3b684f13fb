import { expect, test } from "vitest";
import { keepRunning, restartDelayMs } from "./keep-running.ts";

/** Processes that the test starts and ends; their ids exist nowhere. */
function pretended(outcomes: readonly ("starts" | "fails")[]) {
  const starts: (() => void)[] = [];
  let started = () => {};
  const start = async () => {
    const outcome = outcomes[starts.length] ?? "starts";
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    starts.push(end);
    started();
    if (outcome === "fails") throw new Error("no memory");
    return { pid: 2 ** 30 + starts.length, ended };
  };
  const next = () =>
    new Promise<void>((resolve) => {
      started = resolve;
    });
  return { start, starts, next };
}

test("a process that ended is started again, also when a start in between fails", async () => {
  const told: string[] = [];
  const { start, starts, next } = pretended(["starts", "fails", "starts"]);
  const kept = await keepRunning(
    start,
    async () => {},
    (why) => told.push(why),
  );

  const failed = next();
  starts[0]?.();
  await failed;
  await next();

  expect(starts).toHaveLength(3);
  expect(told).toEqual(["it ended by itself", "it could not be started: no memory"]);
  const stopped = kept.stop();
  starts[2]?.();
  await stopped;
});

test("the first start that fails is told to the caller", async () => {
  const { start } = pretended(["fails"]);

  await expect(
    keepRunning(
      start,
      async () => {},
      () => {},
    ),
  ).rejects.toThrow("no memory");
});

test("stopping while nothing runs waits for nothing", async () => {
  const { start, starts } = pretended([]);
  let told = () => {};
  const ended = new Promise<void>((resolve) => {
    told = resolve;
  });
  const kept = await keepRunning(
    start,
    async () => {},
    () => told(),
  );
  starts[0]?.();
  await ended;

  await kept.stop();

  expect(kept.pid()).toBeUndefined();
  expect(starts).toHaveLength(1);
});

test("the wait grows with failures, to a limit", () => {
  expect([0, 1, 2, 20].map(restartDelayMs)).toEqual([200, 400, 800, 10_000]);
});
