import { z } from "zod";
import { type Digest, digestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { ResultOrigin, Seal, SealedStatement } from "./result-seals.ts";

/** The key of a result: an action in a project and a domain. */
export interface ActionResultKey {
  readonly project: string;
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
}

/** The columns of a result that are signed, and the signature. */
export const sealedColumns: Sql = {
  text: `project, domain, action_digest, result, execution_id, worker, attempt, written_by, adopted, key_id,
    signature`,
  values: [],
};

export const SealedRow = z.object({
  project: z.string(),
  domain: TrustDomain,
  action_digest: z.string(),
  result: z.instanceof(Uint8Array),
  execution_id: z.uuid().nullable(),
  worker: z.string().nullable(),
  attempt: z.number().nullable(),
  written_by: z.string().nullable(),
  adopted: z.boolean(),
  key_id: z.string().nullable(),
  signature: z.instanceof(Uint8Array).nullable(),
});

export function sealedStatementOf(row: z.infer<typeof SealedRow>): SealedStatement {
  const { key_id: keyId, signature } = row;
  return {
    project: row.project,
    domain: row.domain,
    action: row.action_digest,
    result: row.result,
    origin: originOf(row),
    isAdopted: row.adopted,
    seal: keyId === null || signature === null ? undefined : { keyId, signature },
  };
}

// A constraint of the table guarantees that one of the two is set.
function originOf(row: z.infer<typeof SealedRow>): ResultOrigin {
  const { execution_id: executionId, attempt, worker, written_by: writtenBy } = row;
  return executionId === null || attempt === null
    ? { kind: "client", principal: writtenBy ?? "" }
    : { kind: "execution", executionId, attempt, worker };
}

const StoredActionResult = SealedRow.extend({ created_at: z.date() }).transform((row) => ({
  ...sealedStatementOf(row),
  createdAt: row.created_at,
}));
type StoredActionResult = z.infer<typeof StoredActionResult>;

/** Returns the results of an action in these domains, in the order of the domains. */
export function actionResultsIn(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  actionDigest: Digest,
): Promise<StoredActionResult[]> {
  return tx.many(
    StoredActionResult,
    sql`
      select ${sealedColumns}, created_at
      from action_result
      where project = ${project}
        and domain = any(${domains}::text[])
        and action_digest = ${digestKey(actionDigest)}
        and not quarantined
      order by array_position(${domains}::text[], domain)
    `,
  );
}

interface NewActionResult extends ActionResultKey {
  readonly result: Uint8Array;
  readonly executionId: string;
  readonly attempt: number;
  readonly worker?: string | null;
  readonly seal?: Seal | undefined;
}

/**
 * Stores a result and replaces an older one.
 *
 * An action is executed again only when its result was missing or unusable, so the new one is better. A result in
 * quarantine stays there.
 */
export async function saveActionResult(tx: Tx, saved: NewActionResult): Promise<void> {
  await tx.run(sql`
    insert into action_result (project, domain, action_digest, result, execution_id, attempt, worker,
      key_id, signature)
    select ${saved.project}, ${saved.domain}, ${digestKey(saved.actionDigest)},
      ${saved.result}::bytea, ${saved.executionId}::uuid, ${saved.attempt}::integer, ${saved.worker ?? null},
      ${saved.seal?.keyId ?? null}, ${saved.seal?.signature ?? null}::bytea
    where ${isUndoubted(saved)}
    on conflict (project, domain, action_digest) do update
    set result = excluded.result,
        execution_id = excluded.execution_id,
        attempt = excluded.attempt,
        worker = excluded.worker,
        written_by = null,
        key_id = excluded.key_id,
        signature = excluded.signature,
        adopted = false,
        created_at = excluded.created_at,
        last_used_at = excluded.last_used_at
    where not action_result.quarantined
      and (action_result.execution_id, action_result.attempt)
        is distinct from (excluded.execution_id, excluded.attempt)
  `);
}

interface ClientResult extends ActionResultKey {
  readonly result: Uint8Array;
  readonly principal: string;
  readonly seal: Seal | undefined;
}

/**
 * Stores a result that a client reported and replaces what clients reported before.
 *
 * An existing worker's result stays, unless it is the `useless` one that was just found incomplete or without a valid
 * signature. Returns false when it stays.
 */
export async function saveClientResult(
  tx: Tx,
  saved: ClientResult,
  useless: ResultOrigin | undefined,
): Promise<boolean> {
  const seen = useless?.kind === "execution" ? useless : { executionId: null, attempt: null };
  const written = await tx.run(sql`
    insert into action_result (project, domain, action_digest, result, written_by, key_id, signature)
    select ${saved.project}, ${saved.domain}, ${digestKey(saved.actionDigest)},
      ${saved.result}::bytea, ${saved.principal},
      ${saved.seal?.keyId ?? null}, ${saved.seal?.signature ?? null}::bytea
    where ${isUndoubted(saved)}
    on conflict (project, domain, action_digest) do update
    set result = excluded.result,
        execution_id = null,
        attempt = null,
        worker = null,
        key_id = excluded.key_id,
        signature = excluded.signature,
        adopted = false,
        written_by = excluded.written_by,
        created_at = excluded.created_at,
        last_used_at = excluded.last_used_at
    where not action_result.quarantined
      and (action_result.execution_id is null
        or (action_result.execution_id, action_result.attempt)
          = (${seen.executionId}::uuid, ${seen.attempt}::integer))
  `);
  return written > 0;
}

/** Returns whether the action has no quarantined result, in any domain and with any size of the digest. */
function isUndoubted({ project, actionDigest }: ActionResultKey) {
  return sql`not exists (
    select from action_result as doubted
    where doubted.project = ${project}
      and split_part(doubted.action_digest, '/', 1) = ${actionDigest.hash}
      and doubted.quarantined
  )`;
}

/** Notes that a result was used. Once an hour is enough, because eviction works with days. */
export async function touchActionResult(tx: Tx, key: ActionResultKey): Promise<void> {
  await tx.run(sql`
    update action_result
    set last_used_at = now()
    where project = ${key.project}
      and domain = ${key.domain}
      and action_digest = ${digestKey(key.actionDigest)}
      and last_used_at < now() - interval '1 hour'
  `);
}
