import type { ForgePermission } from "../forge.ts";
import type { NeededPermission } from "../forge-policy.ts";
import { suffices } from "../forge-principal.ts";

/** How long an answer of a forge is used, in ms. */
export interface ReadingTimes {
  /** After this time the forge is called again when the principal acts. */
  readonly renewMs: number;
  /** After this time the answer counts no more: without another one, the principal may not read. */
  readonly trustMs: number;
}

export const readingTimes: ReadingTimes = { renewMs: 5 * 60_000, trustMs: 15 * 60_000 };

/** What is known of a principal's permission in a repository. */
interface Reading {
  readonly permission: ForgePermission;
  readonly checkedAt: Date;
}

/**
 * Returns what to do about a permission before its holder acts: nothing, a call beside the request, or a call that the
 * request waits for, because the holder may not read without an answer.
 */
export function dueReading(
  known: Reading | undefined,
  now: Date,
  { renewMs, trustMs }: ReadingTimes,
): "known" | "renew" | "await" {
  if (known === undefined) return "await";
  const ageMs = now.getTime() - known.checkedAt.getTime();
  if (ageMs < renewMs) return "known";
  return ageMs < trustMs ? "renew" : "await";
}

/** Returns until when a permission allows to read; undefined: it does not. */
export function permittedUntil(
  { permission, checkedAt }: Reading,
  needed: NeededPermission,
  { trustMs }: ReadingTimes,
): Date | undefined {
  if (permission === "none" || !suffices(permission, needed)) return undefined;
  return new Date(checkedAt.getTime() + trustMs);
}
