import { readFileSync, readlinkSync } from "node:fs";
import { numberOfThisProcess } from "./process-numbers.ts";

/**
 * Returns a text that identifies this process as an owner on disk: distinct from a later process with the same id, by
 * its start time, and from processes of other pid namespaces, which cannot be looked up.
 */
export function ownOwner(): string {
  if (own === undefined) {
    // The number that `startTimeOf` looks up, because /proc may belong to another pid namespace.
    const pid = numberOfThisProcess() ?? process.pid;
    own = `${pid}-${startTimeOf(pid) ?? "0"}-${pidNamespace()}`;
  }
  return own;
}

/** Cached: these values do not change while the process lives, and reading them takes half a millisecond. */
let own: string | undefined;

/** Returns false only when the owner has certainly ended. The text after a further `-` is ignored. */
export function isAlive(owner: string): boolean {
  const [pid, startTime, namespace] = owner.split("-");
  if (namespace !== pidNamespace()) return true;
  return startTimeOf(Number(pid)) === startTime;
}

/** Returns the number of the owner's pid namespace; initial namespaces have the same number on all machines. */
export function pidNamespaceOf(owner: string): string {
  return owner.split("-")[2] ?? "";
}

/**
 * Returns the start time of a process in clock ticks since boot; undefined when there is no such process. Without
 * /proc, only checks that the process exists.
 */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") return lives(pid) ? "alive" : undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended; only its parent has not waited for it yet.
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (reason) {
    // The process belongs to another user.
    return (reason as NodeJS.ErrnoException).code === "EPERM";
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "0";
  }
}
