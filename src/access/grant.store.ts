import { z } from "zod";
import { RoleVerb } from "#core/role.ts";
import { readingVerbs } from "#core/verb.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { keepPrincipal } from "./principal.store.ts";
import { anyone, Grant, type NewGrant } from "./principal.ts";

const absent = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullable().transform((value) => value ?? undefined);

/** A grant as a row of the table, where an absent restriction is null. */
const StoredGrant = Grant.extend({
  pool: absent(Grant.shape.pool.unwrap()),
  label: absent(Grant.shape.label.unwrap()),
  sizeClassCap: absent(Grant.shape.sizeClassCap.unwrap()),
  costCap: absent(Grant.shape.costCap.unwrap()),
});

const columns = sql`
  verb, repository, branch, priority_cap as "priorityCap", top, pool, label,
  size_class_cap as "sizeClassCap", cost_cap as "costCap"
`;

/** All grants, with those of a role replaced by a grant for each of its verbs. */
const grantsOfVerbs = sql`(
  select grant_rule.id, principal, unnest(coalesce(role.verbs, array[verb])) as verb, repository, branch,
    priority_cap, top, pool, label, size_class_cap, cost_cap
  from grant_rule left join role on grant_rule.verb = 'role:' || role.name
  where role.name is not null or verb not like 'role:%'
) as grant_of_verb`;

/** Returns the grants of a principal, with the verbs of its roles; empty for an unknown name. */
export function grantsOf(tx: Tx, principal: string): Promise<Grant[]> {
  return tx.many(
    StoredGrant,
    sql`
      select ${columns}
      from ${grantsOfVerbs} where principal = ${principal} order by id
    `,
  );
}

/**
 * Returns all rights of principals: their own, the right to read that callers without a token have, and rights to read
 * that were given for a limited time.
 */
export function effectiveGrants(tx: Tx, principals: readonly string[]): Promise<Grant[]> {
  return tx.many(
    StoredGrant,
    sql`
      select verb, repository, branch, "priorityCap", top, pool, label, "sizeClassCap", "costCap"
      from (
        select ${columns}, id, '' as place from ${grantsOfVerbs}
        where principal = any(${principals}) or (principal = ${anyone} and verb = any(${readingVerbs}))
        union all
        select verb, repository, '*', null, false, null, null, null, null, null, repository || verb
        from temporary_right cross join unnest(${readingVerbs}::text[]) as verb
        where principal = any(${principals}) and until > now()
      ) as in_force
      order by id, place
    `,
  );
}

const GrantRule = StoredGrant.extend({
  verb: z.union([Grant.shape.verb, RoleVerb]),
  principal: z.string(),
  createdAt: z.date(),
  createdBy: z.string(),
});
export type GrantRule = z.infer<typeof GrantRule>;

/** Returns the grants as they were given: a grant of a role is one grant. */
export function listGrants(tx: Tx): Promise<GrantRule[]> {
  return tx.many(
    GrantRule,
    sql`
      select principal, ${columns},
        created_at as "createdAt", created_by as "createdBy"
      from grant_rule order by principal, id
    `,
  );
}

/** The same with the temporary rights. Their `createdBy` is the source. */
export async function listRightsInForce(tx: Tx): Promise<GrantRule[]> {
  const temporary = await tx.many(
    GrantRule,
    sql`
      select principal, verb, repository, '*' as branch, null as "priorityCap", false as top,
        null as pool, null as label, null as "sizeClassCap", null as "costCap",
        given_at as "createdAt", source as "createdBy"
      from temporary_right cross join unnest(${readingVerbs}::text[]) as verb
      where until > now()
      order by principal, repository, verb
    `,
  );
  return [...(await listGrants(tx)), ...temporary];
}

/** Grants a right. Granting it twice has no further effect. Returns false when it existed. */
export async function insertGrant(
  tx: Tx,
  principal: string,
  grant: NewGrant,
  createdBy: string,
): Promise<boolean> {
  await keepPrincipal(tx, principal);
  const inserted = await tx.run(sql`
    insert into grant_rule (principal, verb, repository, branch, priority_cap, top, pool, label,
      size_class_cap, cost_cap, created_by)
    values (${principal}, ${grant.verb}, ${grant.repository}, ${grant.branch},
      ${grant.priorityCap}, ${grant.top}, ${grant.pool ?? null}, ${grant.label ?? null},
      ${grant.sizeClassCap ?? null}, ${grant.costCap ?? null}, ${createdBy})
    on conflict do nothing
  `);
  return inserted > 0;
}

/** Selects rules of a principal; an absent pattern selects all. */
export interface NamedGrants {
  readonly principal: string;
  readonly verb: NewGrant["verb"];
  readonly repository: string | undefined;
  readonly branch: string | undefined;
}

/** Removes grants; returns how many. The patterns are compared literally. */
export function deleteGrants(tx: Tx, named: NamedGrants): Promise<number> {
  return tx.run(sql`
    delete from grant_rule
    where principal = ${named.principal} and verb = ${named.verb}
      and (${named.repository ?? null}::text is null or repository = ${named.repository ?? null})
      and (${named.branch ?? null}::text is null or branch = ${named.branch ?? null})
  `);
}

/** Removes all grants of a principal. */
export async function deleteGrantsOf(tx: Tx, principal: string): Promise<void> {
  await tx.run(sql`delete from grant_rule where principal = ${principal}`);
}

/** Serialises transactions that revoke rights or tokens, until this one ends. */
export async function lockRights(tx: Tx): Promise<void> {
  await tx.run(sql`lock table grant_rule in share row exclusive mode`);
}

/**
 * Returns the grants of principals that can use them now, with the verbs of their roles: those that need no token, and
 * those with a valid token.
 *
 * A token with an expiry counts until it expires.
 */
export async function usableGrants(tx: Tx, nobody: string, now: Date): Promise<Grant[]> {
  return tx.many(
    StoredGrant,
    sql`
      select ${columns} from ${grantsOfVerbs}
      where principal = ${nobody} or exists (
        select from token
        where token.principal = grant_of_verb.principal and revoked_at is null
          and (expires_at is null or expires_at > ${now}))
    `,
  );
}
