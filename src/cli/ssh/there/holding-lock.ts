import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
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

/** A lock appears whole, with its holder in it: an empty one would be taken for a dead one's. */
async function take(path: string, name: string): Promise<void> {
  const own = `${path}.${randomUUID()}.own`;
  await writeFile(own, JSON.stringify(identityOf(process.pid)), { mode: 0o600 });
  try {
    while (!(await isLinked(own, path))) await removeDead(path, name);
  } finally {
    await rm(own, { force: true });
  }
}

async function isLinked(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false;
    throw cause;
  }
}

/** Takes it aside first: of two who find a dead one, the second would remove the lock of the first. */
async function removeDead(path: string, name: string): Promise<void> {
  refuseHeld(await readFile(path, "utf8").catch(() => ""), name);
  const aside = `${path}.${randomUUID()}.dead`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const taken = await readFile(aside, "utf8").catch(() => "");
  if (isHeld(taken)) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  refuseHeld(taken, name);
}

function refuseHeld(holder: string, name: string): void {
  if (!isHeld(holder)) return;
  throw new Fault(
    "failed_precondition",
    `somebody else is starting the worker ${name} there at this moment; try again`,
  );
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
