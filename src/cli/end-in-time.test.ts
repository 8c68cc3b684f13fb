import { expect, test } from "vitest";
import { runProgram } from "./run-program.ts";

/** Other tests run in this process: their timers may end meanwhile, so there may be fewer than before. */
const timers = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

test("a program that is not installed leaves no timer behind", async () => {
  const before = timers();

  const run = runProgram("no-such-program", [], { timeoutMs: 60_000 });

  await expect(run).rejects.toThrow("no-such-program is not installed");
  expect(timers()).toBeLessThanOrEqual(before);
});

test("a program that is over in time leaves no timer behind", async () => {
  const before = timers();

  const { exitCode } = await runProgram("sh", ["-c", "exit 3"], { timeoutMs: 60_000 });

  expect(exitCode).toBe(3);
  expect(timers()).toBeLessThanOrEqual(before);
});

test("a program that is not over in time is killed", async () => {
  const { exitCode } = await runProgram("sleep", ["600"], { timeoutMs: 50 });

  expect(exitCode).toBeNull();
});
