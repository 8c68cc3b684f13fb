import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";
import { isAlive, ownOwner, pidNamespaceOf } from "./owner.ts";

/** The content that the holder of a lock writes into its file. */
const Record = z.object({
  /** Unique for each acquisition of the lock. */
  id: z.string(),
  name: z.string(),
  owner: z.string().regex(/^\d+-\w+-\d+$/),
  host: z.string(),
  /** The boot id of the running kernel. */
  boot: z.string(),
  since: z.string(),
});
export type LockRecord = z.infer<typeof Record>;

/** The holder of a lock: its description, and its process. */
export interface Holder {
  readonly name: string;
  readonly pid: number;
  /** For display: `process 12`, or a process of another container or machine. */
  readonly where: string;
  /** An ISO date. */
  readonly since: string;
}

/** A kernel without an identity counts as a different one each time. */
const ownBoot = bootId() ?? randomUUID();

export function ownRecord(name: string): LockRecord {
  const since = new Date().toISOString();
  return { id: randomUUID(), name, owner: ownOwner(), host: hostname(), boot: ownBoot, since };
}

/** Returns undefined for an empty file, and for other content. */
export function parseLockRecord(text: string): LockRecord | undefined {
  try {
    return Record.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export function lockRecordText(record: LockRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Whether the holder runs, or ran, under the same kernel as this process. */
export function isOfThisBoot({ boot }: Pick<LockRecord, "boot">): boolean {
  return boot === ownBoot;
}

/**
 * Whether the holder's process can be looked up here: its process id does not belong to another pid namespace or
 * machine.
 */
export function isVisibleHere(record: Pick<LockRecord, "owner" | "host" | "boot">): boolean {
  if (process.platform !== "linux") return record.host === hostname();
  return isOfThisBoot(record) && pidNamespaceOf(record.owner) === pidNamespaceOf(ownOwner());
}

/** Whether the holder's process is known to run. Unlike `isAlive`, false when it cannot be looked up. */
export function isSeenAlive(record: LockRecord): boolean {
  return isVisibleHere(record) && isAlive(record.owner);
}

export function holderIn(record: LockRecord): Holder {
  const pid = Number.parseInt(record.owner, 10);
  return { name: record.name, pid, where: whereIs(record, pid), since: record.since };
}

function whereIs(record: LockRecord, pid: number): string {
  if (isVisibleHere(record)) return `process ${pid}`;
  if (isOfThisBoot(record))
    return `process ${pid} in another container of this machine, host name ${record.host}`;
  return `process ${pid} on ${record.host}, another machine or an earlier start of this one`;
}

function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
