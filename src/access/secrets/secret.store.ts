import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Known = z.object({
  id: z.number(),
  name: z.string(),
  repository: z.string(),
  branch: z.string(),
  users: z.string().nullable(),
  version: z.number(),
  setAt: z.date(),
  setBy: z.string(),
});
/** The fields of a secret that may be shown. */
export type KnownSecret = z.infer<typeof Known>;

const Kept = Known.extend({ keyId: z.string(), sealed: z.instanceof(Uint8Array) });
export type KeptSecret = z.infer<typeof Kept>;

const known = sql`id, name, repository, branch, users, version, set_at as "setAt", set_by as "setBy"`;

export function listSecrets(tx: Tx): Promise<KnownSecret[]> {
  return tx.many(Known, sql`select ${known} from secret order by name, repository, branch`);
}

export function secretsNamed(tx: Tx, names: readonly string[]): Promise<KnownSecret[]> {
  return tx.many(Known, sql`select ${known} from secret where name = any(${names}::text[])`);
}

export function keptSecrets(tx: Tx, ids: readonly number[]): Promise<KeptSecret[]> {
  return tx.many(
    Kept,
    sql`select ${known}, key_id as "keyId", sealed from secret where id = any(${ids}::bigint[])`,
  );
}

export interface SecretPlace {
  readonly name: string;
  readonly repository: string;
  readonly branch: string;
}

/** Serialises transactions that set secrets of the same name. */
export async function lockSecretNames(tx: Tx): Promise<void> {
  await tx.run(sql`lock table secret in share row exclusive mode`);
}

export async function secretAt(tx: Tx, at: SecretPlace): Promise<KnownSecret | undefined> {
  const [row] = await tx.many(
    Known,
    sql`
      select ${known} from secret
      where name = ${at.name} and repository = ${at.repository} and branch = ${at.branch}
    `,
  );
  return row;
}

export async function countSecrets(tx: Tx): Promise<number> {
  const [row] = await tx.many(z.object({ n: z.number() }), sql`select count(*) as n from secret`);
  return row?.n ?? 0;
}

export async function putSecret(
  tx: Tx,
  secret: SecretPlace & {
    readonly users: string | null;
    readonly version: number;
    readonly keyId: string;
    readonly sealed: Uint8Array;
    readonly setAt: Date;
    readonly setBy: string;
  },
): Promise<void> {
  const { name, repository, branch, users, version, keyId, sealed, setAt, setBy } = secret;
  await tx.run(sql`
    insert into secret (name, repository, branch, users, version, key_id, sealed, set_at, set_by)
    values (${name}, ${repository}, ${branch}, ${users}, ${version}, ${keyId}, ${Buffer.from(sealed)}, ${setAt}, ${setBy})
    on conflict (name, repository, branch) do update
    set users = excluded.users, version = excluded.version, key_id = excluded.key_id,
        sealed = excluded.sealed, set_at = excluded.set_at, set_by = excluded.set_by
  `);
}

/** Returns whether the secret existed. */
export async function deleteSecret(tx: Tx, at: SecretPlace): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from secret
    where name = ${at.name} and repository = ${at.repository} and branch = ${at.branch}
  `);
  return removed > 0;
}
