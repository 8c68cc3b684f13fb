import { isRunning, type ProcessIdentity } from "../../up/process-identity.ts";
import type { Stopped } from "../worker-settings.ts";
import { WorkerFolder } from "./worker-folder.ts";

/** A worker allows its jobs some seconds to end, and returns the rest to the farm. */
const waitLimitMs = 15_000;
const hurryMs = 10_000;

/** Stops a worker and everything that it runs. */
export async function stopDetached(directory: string, name: string): Promise<Stopped> {
  const running = await new WorkerFolder(directory, name).running();
  if (running === undefined) return { kind: "absent" };
  // The second signal makes it stop without waiting for its jobs.
  for (const waitMs of [waitLimitMs, hurryMs]) {
    tell(running, "SIGTERM");
    if (await endsWithin(running, waitMs)) return { kind: "stopped" };
  }
  tell(running, "SIGKILL");
  await endsWithin(running, hurryMs);
  return { kind: "killed" };
}

function tell({ pid }: ProcessIdentity, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just ended.
  }
}

/** The system reports an end only to the parent, so this function polls. */
async function endsWithin(running: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (isRunning(running)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}
