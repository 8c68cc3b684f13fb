import { readFile, rm, writeFile } from "node:fs/promises";
import { Fault } from "#core/fault.ts";
import { identityOf, isRunning } from "../../up/process-identity.ts";

/** Two who start a worker at once would both find none and start two. */
export async function holdingLock<Result>(
  path: string,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await take(path, name);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string, name: string): Promise<void> {
  const own = JSON.stringify(identityOf(process.pid));
  for (;;) {
    try {
      return await writeFile(path, own, { flag: "wx", mode: 0o600 });
    } catch (cause) {
      const holder = await readFile(path, "utf8").catch(() => undefined);
      if (holder !== undefined && isHeld(holder)) {
        throw new Fault(
          "failed_precondition",
          `somebody else is starting the worker ${name} there at this moment; try again`,
          { cause },
        );
      }
      await rm(path, { force: true });
    }
  }
}

/** False for what a dead process left, whole or not. */
function isHeld(holder: string): boolean {
  try {
    const { pid, startTime } = JSON.parse(holder) as { pid: number; startTime: string };
    return isRunning({ pid, startTime });
  } catch {
    return false;
  }
}
