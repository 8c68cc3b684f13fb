import { startTimeOf } from "#machine/owner.ts";

/** A process id with its start time, which separates it from a later process with the same id. */
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
