import { z } from "zod";
import { type Digest, digestKey, parseDigestKey } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { mostCandidates } from "./weak-approximation.ts";

interface ApproximationKey {
  readonly project: string;
  readonly domain: TrustDomain;
  readonly approximation: string;
}

const ActionRow = z.object({ action: z.string().transform(parseDigestKey) });

/** Returns the action for an over-approximation, if it was ever found; in the first domain that has it. */
export async function actionOfApproximation(
  tx: Tx,
  { project, approximation }: ApproximationKey,
  domains: readonly TrustDomain[],
): Promise<Digest | undefined> {
  const [row] = await tx.many(
    ActionRow,
    sql`
      with found as (
        select domain, kind, slot, action_digest, last_used_at from approximation
        where project = ${project} and domain = any(${domains}::text[]) and kind = 'over'
          and approximation = ${approximation}
        order by array_position(${domains}::text[], domain)
        limit 1
      ),
      used as (
        update approximation set last_used_at = now()
        from found
        where approximation.project = ${project} and approximation.domain = found.domain and approximation.kind = 'over'
          and approximation.approximation = ${approximation}
          and found.last_used_at < now() - interval '1 hour'
      )
      select action_digest as action from found
    `,
  );
  return row?.action;
}

/** Returns actions with this weak approximation, the newest first. */
export async function actionsAlike(
  tx: Tx,
  { project, approximation }: ApproximationKey,
  domains: readonly TrustDomain[],
): Promise<Digest[]> {
  const rows = await tx.many(
    ActionRow,
    sql`
      select action_digest as action from approximation
      where project = ${project} and domain = any(${domains}::text[]) and kind = 'weak'
        and approximation = ${approximation}
      order by last_used_at desc
      limit ${mostCandidates}
    `,
  );
  return rows.map(({ action }) => action);
}

export interface Approximated extends ApproximationKey {
  readonly kind: "over" | "weak";
  readonly action: Digest;
}

/**
 * Stores which actions have these approximations.
 *
 * For an over-approximation, only the finder's last result counts. For a weak one, the newest few are kept: a new
 * action takes a free slot, or the slot that was used least recently. Two transactions may take the same slot; that
 * loses only a hint.
 */
export async function keepApproximations(tx: Tx, found: readonly Approximated[]): Promise<void> {
  if (found.length === 0) return;
  const rows = found.map(({ action, ...key }) => ({ ...key, action: digestKey(action) }));
  await tx.run(sql`
    insert into approximation (project, domain, kind, approximation, slot, action_digest)
    select distinct on (f.project, f.domain, f.kind, f.approximation)
      f.project, f.domain, f.kind, f.approximation, coalesce(taken.slot, 0), f.action
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as f (project text, domain text, kind text, approximation text, action text)
    left join lateral (
      select slot.number as slot
      from generate_series(0, ${mostCandidates - 1}::integer) as slot (number)
      left join approximation as old on old.project = f.project and old.domain = f.domain and old.kind = f.kind
        and old.approximation = f.approximation and old.slot = slot.number
      order by coalesce(old.action_digest = f.action, false) desc, old.last_used_at nulls first, slot.number
      limit 1
    ) as taken on f.kind = 'weak'
    -- In one order for all servers.
    order by f.project, f.domain, f.kind, f.approximation
    on conflict (project, domain, kind, approximation, slot) do update
    set action_digest = excluded.action_digest, last_used_at = now()
    where approximation.action_digest <> excluded.action_digest
      or approximation.last_used_at < now() - case approximation.kind when 'weak' then interval '1 minute' else interval '1 hour' end
  `);
}

/** Deletes some approximations that were not used since a time. Returns how many. */
export function forgetApproximations(tx: Tx, unusedSince: Date): Promise<number> {
  return tx.run(sql`
    delete from approximation
    where ctid = any(array(
      select ctid from approximation where last_used_at < ${unusedSince} order by last_used_at limit 1000
    ))
  `);
}
