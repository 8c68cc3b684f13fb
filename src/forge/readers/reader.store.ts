import { z } from "zod";
import { NeededPermission } from "#api/forge.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ForgePermission } from "../forge.ts";

const permissions = [
  "admin",
  "maintain",
  "write",
  "triage",
  "read",
  "none",
] as const satisfies readonly ForgePermission[];

const Account = z.object({
  principal: z.string(),
  kind: z.string(),
  account: z.string(),
  linkedBy: z.string(),
  linkedAt: z.date(),
});
export type ForgeAccount = z.infer<typeof Account>;

export function forgeAccounts(tx: Tx): Promise<ForgeAccount[]> {
  return tx.many(
    Account,
    sql`
      select principal, kind, account, linked_by as "linkedBy", linked_at as "linkedAt"
      from forge_account order by principal, kind
    `,
  );
}

/** Links a principal with an account, in place of an earlier one. */
export async function linkAccount(
  tx: Tx,
  { principal, kind, account, linkedBy, linkedAt }: ForgeAccount,
): Promise<void> {
  await tx.run(sql`
    insert into forge_account (principal, kind, account, linked_by, linked_at)
    values (${principal}, ${kind}, ${account}, ${linkedBy}, ${linkedAt})
    on conflict (principal, kind) do update
    set account = excluded.account, account_id = null, linked_by = excluded.linked_by,
        linked_at = excluded.linked_at
  `);
}

export async function unlinkAccount(
  tx: Tx,
  { principal, kind }: Pick<ForgeAccount, "principal" | "kind">,
): Promise<boolean> {
  const removed = await tx.run(
    sql`delete from forge_account where principal = ${principal} and kind = ${kind}`,
  );
  return removed > 0;
}

const AccountLink = Account.pick({ account: true, linkedBy: true });

export async function accountOf(
  tx: Tx,
  principal: string,
  kind: string,
): Promise<z.infer<typeof AccountLink> | undefined> {
  const [row] = await tx.many(
    AccountLink,
    sql`
      select account, linked_by as "linkedBy" from forge_account
      where principal = ${principal} and kind = ${kind}
    `,
  );
  return row;
}

const Name = z.object({ principal: z.string() });

/** Returns the principals whose rights may follow a forge; none while no repository does so. */
export async function principalsWithAccounts(tx: Tx): Promise<ReadonlySet<string>> {
  const rows = await tx.many(
    Name,
    sql`
      select distinct principal from forge_account
      where kind in (
        select kind from forge_repository where coalesce(policy ->> 'readers', 'nobody') <> 'nobody'
      )
    `,
  );
  return new Set(rows.map(({ principal }) => principal));
}

const Pair = z
  .object({
    repository: z.string(),
    kind: z.string(),
    slug: z.string(),
    account: z.string(),
    permission: z.enum(permissions).nullable(),
    checkedAt: z.date().nullable(),
  })
  .transform(({ permission, checkedAt, ...pair }) => ({
    ...pair,
    known: permission === null || checkedAt === null ? undefined : { permission, checkedAt },
  }));
export type ReadingPair = z.infer<typeof Pair>;

/** Returns the repositories that a principal may read by their forge's permission, the longest unchecked first. */
export function readingsOf(tx: Tx, principal: string, most: number): Promise<ReadingPair[]> {
  return tx.many(
    Pair,
    sql`
      select repository.name as repository, repository.kind, repository.slug, account.account,
             reading.permission, reading.checked_at as "checkedAt"
      from forge_account as account
      join forge_repository as repository on repository.kind = account.kind
      left join forge_reading as reading
        on reading.repository = repository.name and reading.principal = account.principal
      where account.principal = ${principal}
        and coalesce(repository.policy ->> 'readers', 'nobody') <> 'nobody'
      order by reading.checked_at nulls first, repository.name
      limit ${most}
    `,
  );
}

const Rule = z.object({ needed: NeededPermission, accountId: z.string().nullable() });

/**
 * Locks what a reading depends on: the link and the repository. Returns undefined when the principal has another
 * account by now, or the repository does not follow its forge any more.
 */
export async function lockReading(
  tx: Tx,
  principal: string,
  { repository, kind, account }: ReadingPair,
): Promise<z.infer<typeof Rule> | undefined> {
  const [row] = await tx.many(
    Rule,
    sql`
      select coalesce(repository.policy ->> 'readers', 'nobody') as needed,
             account.account_id as "accountId"
      from forge_account as account
      join forge_repository as repository on repository.kind = account.kind
      where account.principal = ${principal} and account.kind = ${kind}
        and account.account = ${account} and repository.name = ${repository}
      for update of account, repository
    `,
  );
  return row;
}

/** Stores an answer unless a later one is stored. Returns false when it is. */
export async function keepReading(
  tx: Tx,
  principal: string,
  repository: string,
  { permission, checkedAt }: { readonly permission: ForgePermission; readonly checkedAt: Date },
): Promise<boolean> {
  const kept = await tx.run(sql`
    insert into forge_reading (repository, principal, permission, checked_at)
    values (${repository}, ${principal}, ${permission}, ${checkedAt})
    on conflict (repository, principal) do update
    set permission = excluded.permission, checked_at = excluded.checked_at
    where forge_reading.checked_at < excluded.checked_at
  `);
  return kept > 0;
}

export async function keepAccountId(
  tx: Tx,
  principal: string,
  kind: string,
  accountId: string,
): Promise<void> {
  await tx.run(sql`
    update forge_account set account_id = ${accountId}
    where principal = ${principal} and kind = ${kind} and account_id is null
  `);
}

/** Forgets answers of a principal, or for a repository. */
export async function forgetReadings(
  tx: Tx,
  { principal, repository }: { readonly principal?: string; readonly repository?: string },
): Promise<void> {
  await tx.run(sql`
    delete from forge_reading
    where principal = ${principal ?? null} or repository = ${repository ?? null}
  `);
}
