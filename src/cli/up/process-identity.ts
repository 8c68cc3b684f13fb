import { startTimeOf } from "#machine/owner.ts";

/** A process id, and what tells the process from a later one that got the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  return startTimeOf(pid) === startTime;
}
