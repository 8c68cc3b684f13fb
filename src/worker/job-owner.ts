import { fchownSync, lchownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";

import { wantedJobUid } from "./config.ts";

/** A user of the machine, by number. */
export interface JobOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Below what `useradd` gives out last, and above what anybody has reached. */
const usualUid = 59_980;

/** What decides it: who this process is, which users its user namespace has, and the setting. */
export interface OwnIdentity {
  readonly uid: number | undefined;
  /** The text of /proc/self/uid_map; empty where there is none. */
  readonly uidMap: string;
  /** `GRANGE_JOB_UID`. */
  readonly wanted: string | undefined;
}

/**
 * Whom jobs of a worker that runs as root belong to; undefined where they belong to the worker's own user.
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

/** Gives jobs a file, a directory or a link that the worker has made for them. */
export function giveToJobs(path: string): void {
  if (jobOwner !== undefined) lchownSync(path, jobOwner.uid, jobOwner.gid);
}

/** The same for an open file. */
export function giveOpenFileToJobs(file: number): void {
  if (jobOwner !== undefined) fchownSync(file, jobOwner.uid, jobOwner.gid);
}

/** Where a worker's store lies. Files of another owner are of no use: jobs could not change modes, nor add to directories. */
export function storeDirectoryIn(dataDir: string): string {
  return jobOwner === undefined ? dataDir : join(dataDir, `of-user-${jobOwner.uid}`);
}

function readUidMap(): string {
  try {
    return readFileSync("/proc/self/uid_map", "utf8");
  } catch {
    return "";
  }
}
