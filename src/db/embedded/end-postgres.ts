import { readdir, readFile } from "node:fs/promises";
import { rest } from "#core/resting.ts";

/** One way to stop PostgreSQL, with its time limit. */
export interface StopStep {
  readonly signal: "SIGINT" | "SIGQUIT" | "SIGKILL";
  readonly withinMs: number;
}

/**
 * First PostgreSQL's fast shutdown: clients are disconnected and data is flushed. It never completes when it was
 * requested while PostgreSQL recovered from the loss of a process. Then the immediate shutdown follows, which ends all
 * processes within 5 s, and at last SIGKILL. After these two, the next start recovers from the write-ahead log; all
 * committed data is preserved.
 */
const stopSteps: readonly StopStep[] = [
  { signal: "SIGINT", withinMs: 10_000 },
  { signal: "SIGQUIT", withinMs: 10_000 },
  { signal: "SIGKILL", withinMs: 10_000 },
];

/**
 * For a PostgreSQL whose Grange server has ended. It began to shut down then. A new server waits for it, while build
 * tools retry for some seconds. A shutdown takes 0.1 to 0.7 s, also beside other work; if it has not ended by now, it
 * hangs. Recovery takes 0.3 s longer than a clean start.
 */
export const stopStepsOfEarlier: readonly StopStep[] = [
  { signal: "SIGINT", withinMs: 2_000 },
  { signal: "SIGQUIT", withinMs: 10_000 },
  { signal: "SIGKILL", withinMs: 10_000 },
];

/** PostgreSQL ignores a signal while it starts, so it is sent again. */
const againEveryMs = 50;

/**
 * Stops PostgreSQL, with increasingly forceful steps. Returns false when no step succeeded.
 *
 * @param pid of its first process, the postmaster
 * @param hasEnded whether that process has ended
 * @param ended aborted when its end is known, which ends the wait between two checks
 */
export async function endPostgres(
  pid: number,
  hasEnded: () => boolean | Promise<boolean>,
  steps: readonly StopStep[] = stopSteps,
  ended?: AbortSignal,
): Promise<boolean> {
  for (const { signal, withinMs } of steps) {
    // Without the postmaster, they would continue until they notice, and prevent the next start.
    const alongside = signal === "SIGKILL" ? await childrenOf(pid) : [];
    const until = performance.now() + withinMs;
    while (performance.now() < until) {
      if (await hasEnded()) return true;
      for (const each of [pid, ...alongside.splice(0)]) signalQuietly(each, signal);
      await rest(againEveryMs, ended);
    }
  }
  return hasEnded();
}

/** The processes that a process has started. */
export async function childrenOf(parent: number): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_, index) => parents[index] === parent);
}

async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name, in parentheses, may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[1] === undefined ? undefined : Number(fields[1]);
}

/** Sends a signal. The process may have ended at this moment. */
function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}
