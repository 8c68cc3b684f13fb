import { expect, test, vi } from "vitest";
import { neverIdle } from "#core/idle-state.ts";
import { silent } from "#execution/execution.fixture.ts";
import { type PeriodicTask, startPeriodicTasks } from "./periodic-tasks.ts";

const hourMs = 60 * 60_000;

test("a task with a long period first runs soon after the start, and a failure does not prevent its stop", async () => {
  const ran: string[] = [];
  let bothRan = () => {};
  const both = new Promise<void>((resolve) => {
    bothRan = resolve;
  });
  const task = (name: string, run: () => Promise<void>): PeriodicTask => ({
    name,
    everyMs: hourMs,
    async run() {
      ran.push(name);
      if (ran.length === 2) bothRan();
      await run();
    },
  });
  const tasks = startPeriodicTasks(
    [
      task("fails", async () => {
        throw new Error("no database");
      }),
      task("works", async () => {}),
    ],
    { logger: silent, idle: neverIdle, firstMs: 1 },
  );

  await both;
  await tasks.stop();

  expect(ran).toEqual(["fails", "works"]);
});

test("tasks whose times coincide start one after the other", async () => {
  vi.useFakeTimers();
  try {
    const startedAt: number[] = [];
    const task = (name: string, everyMs: number): PeriodicTask => ({
      name,
      everyMs,
      run: async () => void startedAt.push(Date.now()),
    });

    const tasks = startPeriodicTasks([task("first", 5_000), task("second", 5_000)], {
      logger: silent,
      idle: neverIdle,
      firstMs: hourMs,
    });
    await vi.advanceTimersByTimeAsync(6_000);
    await tasks.stop();

    const [first = 0, second = 0, ...others] = startedAt;
    expect(second).toBeGreaterThan(first);
    expect(others).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

test("a task whose period is shorter than its delay does not run after the stop", async () => {
  vi.useFakeTimers();
  try {
    let runs = 0;
    const count = (name: string): PeriodicTask => ({
      name,
      everyMs: 4,
      run: async () => void runs++,
    });

    const tasks = startPeriodicTasks([count("first"), count("second"), count("third")], {
      logger: silent,
      idle: neverIdle,
      firstMs: hourMs,
    });
    await vi.advanceTimersByTimeAsync(18);
    await tasks.stop();
    const before = runs;
    await vi.advanceTimersByTimeAsync(100);

    expect(before).toBeGreaterThan(0);
    expect(runs).toBe(before);
  } finally {
    vi.useRealTimers();
  }
});
