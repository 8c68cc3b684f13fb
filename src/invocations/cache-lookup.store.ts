import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { Asking } from "./asking.ts";

/** The action cache's result for a call. */
export interface CacheLookup {
  readonly asking: Asking;
  readonly actionDigest: Digest;
  readonly hit: boolean;
  readonly at: Date;
}

/** Stores the last result for each action and invocation. A call may contain each pair at most once. */
export async function saveCacheLookups(tx: Tx, lookups: readonly CacheLookup[]): Promise<void> {
  const rows = lookups.map(({ asking, actionDigest, hit, at }) => ({
    project: asking.project,
    invocation: asking.invocation,
    action_digest: digestKey(actionDigest),
    target_id: asking.targetId,
    action_mnemonic: asking.actionMnemonic,
    configuration_id: asking.configurationId,
    hit,
    at,
  }));
  await tx.run(sql`
    insert into cache_lookup (
      project, invocation, action_digest, target_id, action_mnemonic, configuration_id, hit,
      looked_up_at)
    select project, invocation, action_digest, target_id, action_mnemonic, configuration_id, hit, at
    from json_to_recordset(${JSON.stringify(rows)}::json) as looked (
      project text, invocation text, action_digest text, target_id text, action_mnemonic text,
      configuration_id text, hit boolean, at timestamptz)
    order by project, invocation, action_digest
    on conflict (project, invocation, action_digest) do update
    set hit = excluded.hit, looked_up_at = excluded.looked_up_at, target_id = excluded.target_id,
        action_mnemonic = excluded.action_mnemonic, configuration_id = excluded.configuration_id
    where cache_lookup.looked_up_at <= excluded.looked_up_at
  `);
}
