import { z } from "zod";
import { costCapOf, jobLimits, requestedTooMuch } from "#access/job-limits.ts";
import type { Principal, Where } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import type { Verb } from "#core/verb.ts";
import type { Tx } from "#db/db.ts";
import { expectedDurations } from "../times/expected-durations.store.ts";

/** A job with its stored definition, as it would run. */
export interface LimitedJob {
  readonly name: string;
  readonly definition: unknown;
  /** The number of its runs; 1 when absent. */
  readonly times?: number;
}

const Asking = z.looseObject({
  platform: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  commands: z.unknown().optional(),
});

/** The assumed duration of a job that never succeeded here, in ms: otherwise renamed jobs would cost nothing. */
const unknownJobMs = 60_000;

/** Returns whether the graphs of a principal have limits there; otherwise their definitions need not be read. */
export function isHeldToLimits(principal: Principal, verb: Verb, where: Where): boolean {
  return (
    jobLimits(principal, verb, where) !== undefined ||
    costCapOf(principal, verb, where) !== undefined
  );
}

/** Throws `permission_denied` for jobs that require more than the grants of a principal allow. */
export function holdJobsToLimits(
  principal: Principal,
  verb: Verb,
  where: Where,
  jobs: Iterable<LimitedJob>,
): void {
  const limits = jobLimits(principal, verb, where);
  if (limits === undefined) return;
  for (const { name, definition } of jobs) {
    const tooMuch = requestedTooMuch(Asking.parse(definition).platform ?? {}, limits);
    if (tooMuch === undefined) continue;
    throw new Fault(
      "permission_denied",
      `${name} asks for ${tooMuch}, and ${principal.name}'s grants to ${verb} there do not allow that: ` +
        "`grange grant list` shows their limits",
    );
  }
}

/** Throws `permission_denied` for a graph whose expected worker time exceeds the limit of the grants. */
export async function holdGraphToCost(
  tx: Tx,
  principal: Principal,
  verb: Verb,
  where: Where,
  jobs: readonly LimitedJob[],
): Promise<void> {
  const cap = costCapOf(principal, verb, where);
  if (cap === undefined) return;
  const paid = jobs.filter(({ definition }) => Asking.parse(definition).commands !== undefined);
  const names = paid.map(({ name }) => name);
  const known = await expectedDurations(tx, where.repository, names);
  const ms = paid.reduce(
    (sum, { name, times = 1 }) => sum + times * (known.get(name) ?? unknownJobMs),
    0,
  );
  const minutes = ms / 60_000;
  if (minutes <= cap) return;
  throw new Fault(
    "permission_denied",
    `this graph is expected to take ${Math.ceil(minutes)} minutes of workers, and ${principal.name}'s grants to ` +
      `${verb} there allow ${cap}: choose fewer jobs, or ask for a grant with a higher --cost-cap`,
  );
}
