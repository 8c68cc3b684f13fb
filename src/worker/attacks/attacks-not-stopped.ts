import type { RefusedCall } from "../sandbox/system-calls/refused-calls.ts";
import {
  type Area,
  type AttackName,
  attackNamed,
  attackNames,
  type Defence,
} from "./attack-list.ts";

/** What a worker has against attacks of jobs. */
export interface Defences {
  readonly parts: ReadonlySet<Defence>;
  /** System calls that the filter lets through. */
  readonly allowedCalls: readonly RefusedCall[];
}

/** Returns the attacks of the list that a worker with these defences does not stop. */
export function attacksNotStopped({ parts, allowedCalls }: Defences): AttackName[] {
  return attackNames.filter((name) => {
    const { stoppedBy, call } = attackNamed(name);
    return !parts.has(stoppedBy) || (call !== undefined && allowedCalls.includes(call));
  });
}

/** How people add a defence that is missing. */
const remedies: Readonly<Partial<Record<Defence, string>>> = {
  sandbox: "no sandbox",
  "own /proc": "the worker's /proc",
  "system-call filter": "no filter of system calls",
  "abstract-socket scope": "no Landlock scope",
  "no user namespaces": "without --no-namespaces",
  "process limit": "no limit of processes",
  "memory limit": "without --memory",
  "disk quota": "without --disk",
  "private network": "without --private-network",
};

/** With more attacks of one cause, only their areas and numbers are listed. */
const mostNamed = 4;

/** Describes for people what a worker does not stop, by cause: one line of at most 1,024 characters. */
export function notStoppedText(defences: Defences): string {
  const causes = new Map<string, AttackName[]>();
  for (const name of attacksNotStopped(defences)) {
    const { stoppedBy, call } = attackNamed(name);
    const isAllowed = call !== undefined && defences.parts.has(stoppedBy);
    const cause = isAllowed ? "by --allow-calls" : (remedies[stoppedBy] ?? stoppedBy);
    causes.set(cause, [...(causes.get(cause) ?? []), name]);
  }
  return [...causes].map(([cause, names]) => `${namesText(names)} (${cause})`).join("; ");
}

function namesText(names: readonly AttackName[]): string {
  if (names.length <= mostNamed) return names.join(", ");
  const areas = new Map<Area, number>();
  for (const name of names) {
    const { area } = attackNamed(name);
    areas.set(area, (areas.get(area) ?? 0) + 1);
  }
  const counts = [...areas].map(([area, count]) => `${count} on ${area}`).join(", ");
  return `${names.length} known attacks: ${counts}`;
}
