import { Fault } from "#core/fault.ts";
import { backoffMs } from "./backoff.ts";
import { rest } from "./resting.ts";

/** As long as a server takes to start again, and longer. Beyond it another attempt is cheaper. */
const patienceMs = 60_000;

const passing: ReadonlySet<string> = new Set(["unavailable", "deadline_exceeded", "aborted"]);

/** Repeats what may be repeated while the farm is away for a moment, such as moving a blob. */
export async function persistently<Result>(call: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (reason) {
      const passes = reason instanceof Fault && passing.has(reason.code);
      if (!passes || performance.now() - begun > patienceMs) throw reason;
      await rest(backoffMs(failures, Math.random()));
    }
  }
}
