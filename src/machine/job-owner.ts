import { fchownSync, lchownSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { wantedJobUid } from "./config.ts";

/** A user of the machine, by number. */
interface JobOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Below what `useradd` gives out last, and above what anybody has reached. */
const usualUid = 59_980;

/** What decides it: who this process is, which users its user namespace has, and the setting. */
interface OwnIdentity {
  readonly uid: number | undefined;
  /** The text of /proc/self/uid_map; empty where there is none. */
  readonly uidMap: string;
  /** `GRANGE_JOB_UID`. */
  readonly wanted: string | undefined;
}

/**
 * Whom jobs of a worker, and benchmarks of a collector, that runs as root belong to; undefined where they belong to its own user.
 *
 * To the kernel a job of root is root, whatever it is called in its user namespace: it reads what only root may read,
 * and changes settings of the machine. Who is root of a user namespace that has no other users is an ordinary user.
 */
export function jobOwnerFor({ uid, uidMap, wanted }: OwnIdentity): JobOwner | undefined {
  if (uid !== 0) return undefined;
  const number = wantedUid(wanted);
  return holds(uidMap, number) ? { uid: number, gid: number } : undefined;
}

function wantedUid(wanted: string | undefined): number {
  if (wanted === undefined || wanted === "") return usualUid;
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

/** Lines of three numbers: the first inside, the first outside, how many; see user_namespaces(7). */
function holds(uidMap: string, uid: number): boolean {
  if (uidMap.trim() === "") return true;
  return uidMap
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([first = 0, , count = 0]) => first <= uid && uid < first + count);
}

/** Of this process: it does not change while that lives. */
export const jobOwner = jobOwnerFor({
  uid: process.getuid?.(),
  uidMap: readUidMap(),
  wanted: wantedJobUid(),
});

/** Gives jobs a file, a directory or a link that was made for them. */
export function giveToJobs(path: string): void {
  if (jobOwner !== undefined) lchownSync(path, jobOwner.uid, jobOwner.gid);
}

/** The same for an open file. */
export function giveOpenFileToJobs(file: number): void {
  if (jobOwner !== undefined) fchownSync(file, jobOwner.uid, jobOwner.gid);
}

/** The same for a tree, apart from what in it belongs to them already. */
export function giveTreeToJobs(path: string): void {
  if (jobOwner === undefined) return;
  const entry = lstatSync(path);
  if (entry.uid !== jobOwner.uid) giveToJobs(path);
  if (entry.isDirectory()) for (const name of readdirSync(path)) giveTreeToJobs(join(path, name));
}

/** Nobody in particular, but somebody: PostgreSQL, for one, refuses to be root. */
export const jobUser = { name: "grange", uid: 1000, gid: 1000 } as const;

/** As util-linux names it everywhere; looked up in no PATH of a job. */
export const setpriv = "/usr/bin/setpriv";

/**
 * What goes before a command, as the last thing that root does: it becomes the user whom jobs belong to, called
 * `jobUser` in a user namespace without any other user.
 */
export function asJobOwner({ uid, gid }: JobOwner): string[] {
  return [
    [setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs", "--"],
    ["/usr/bin/unshare", "--user", `--map-user=${jobUser.uid}`, `--map-group=${jobUser.gid}`, "--"],
  ].flat();
}

function readUidMap(): string {
  try {
    return readFileSync("/proc/self/uid_map", "utf8");
  } catch {
    return "";
  }
}
