import { fchownSync, lchownSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { wantedJobUid } from "./config.ts";

/** A user of the machine, by number. */
export interface JobOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Below the last ids of `useradd`, and above those in common use. */
const defaultUid = 59_980;

/** The facts that determine it: this process's user, the users of its user namespace, and the setting. */
interface OwnIdentity {
  readonly uid: number | undefined;
  /** The text of /proc/self/uid_map; empty if there is none. */
  readonly uidMap: string;
  /** `GRANGE_JOB_UID`. */
  readonly wanted: string | undefined;
}

/**
 * Returns the user for jobs of a worker, and benchmarks of a collector, that runs as root; undefined when they run as
 * its own user.
 *
 * For the kernel, a job of root is root, whatever its name in the user namespace: it can read files that only root may
 * read, and change settings of the machine. Root of a user namespace without other users is an ordinary user.
 */
export function jobOwnerFor({ uid, uidMap, wanted }: OwnIdentity): JobOwner | undefined {
  if (uid !== 0) return undefined;
  const number = wantedUid(wanted);
  return holds(uidMap, number) ? { uid: number, gid: number } : undefined;
}

function wantedUid(wanted: string | undefined): number {
  if (wanted === undefined || wanted === "") return defaultUid;
  const parsed = z.coerce
    .number()
    .int()
    .min(1)
    .max(2 ** 31)
    .safeParse(wanted);
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalid_argument",
    `GRANGE_JOB_UID is "${wanted}"; it must be the number of a user who owns nothing, and not 0`,
  );
}

/**
 * Whether a user namespace has an id; all, if there is no map.
 *
 * Lines of three numbers: the first id inside, the first id outside, and the count; see user_namespaces(7).
 */
export function holds(uidMap: string, uid: number): boolean {
  if (uidMap.trim() === "") return true;
  return uidMap
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([first = 0, , count = 0]) => first <= uid && uid < first + count);
}

/** The user for jobs of this process; it does not change while the process lives. */
export const jobOwner = jobOwnerFor({
  uid: process.getuid?.(),
  uidMap: readUidMap(),
  wanted: wantedJobUid(),
});

/** Changes the owner of a file, a directory or a link that was made for jobs. */
export function giveToJobs(path: string): void {
  if (jobOwner !== undefined) lchownSync(path, jobOwner.uid, jobOwner.gid);
}

/** The same for an open file. */
export function giveOpenFileToJobs(file: number): void {
  if (jobOwner !== undefined) fchownSync(file, jobOwner.uid, jobOwner.gid);
}

/** Changes the owner of a tree to the jobs' user, except parts that already belong to it. */
export function giveTreeToJobs(path: string): void {
  if (jobOwner === undefined) return;
  const entry = lstatSync(path);
  if (entry.uid !== jobOwner.uid) giveToJobs(path);
  if (entry.isDirectory()) for (const name of readdirSync(path)) giveTreeToJobs(join(path, name));
}

/** An ordinary user, because some programs, such as PostgreSQL, refuse to run as root. */
export const jobUser = { name: "grange", uid: 1000, gid: 1000 } as const;

/** The path of util-linux on all distributions; not looked up in the PATH of a job. */
export const setpriv = "/usr/bin/setpriv";

/**
 * Returns the prefix of a command that changes root into the jobs' user, called `jobUser`, in a user namespace without
 * any other user. `command` says how the programs are started where the machine's are not.
 */
export function asJobOwner(
  { uid, gid }: JobOwner,
  command: (program: "setpriv" | "unshare") => readonly string[] = (program) => [
    program === "setpriv" ? setpriv : "/usr/bin/unshare",
  ],
): string[] {
  return [
    [
      ...command("setpriv"),
      `--reuid=${uid}`,
      `--regid=${gid}`,
      "--clear-groups",
      "--no-new-privs",
      "--",
    ],
    [
      ...command("unshare"),
      "--user",
      `--map-user=${jobUser.uid}`,
      `--map-group=${jobUser.gid}`,
      "--",
    ],
  ].flat();
}

function readUidMap(): string {
  try {
    return readFileSync("/proc/self/uid_map", "utf8");
  } catch {
    return "";
  }
}
