import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { anyone, PrincipalKind } from "./principal.ts";

/**
 * Registers a principal, as a person when no kind is given. A registered principal keeps its kind.
 *
 * Throws `already_exists` for a new name that differs from a registered one only in upper and lower case: people would
 * confuse the two and give rights to the wrong one.
 */
export async function keepPrincipal(
  tx: Tx,
  name: string,
  kind: PrincipalKind = "person",
): Promise<void> {
  if (await isKnown(tx, name)) return;
  // Two transactions with such names wait for each other.
  await tx.run(sql`
    select pg_advisory_xact_lock(hashtext('principal'), hashtext(${name.toLowerCase()}))
  `);
  const alike = await nameSpelledAlike(tx, name);
  if (alike !== undefined) {
    throw new Fault(
      "already_exists",
      `there is "${alike}" here, and "${name}" differs only in upper and lower case. Use "${alike}", or choose another name`,
    );
  }
  await tx.run(
    sql`insert into principal (name, kind) values (${name}, ${kind}) on conflict do nothing`,
  );
}

const Named = z.object({ name: z.string() });

async function isKnown(tx: Tx, name: string): Promise<boolean> {
  return (await tx.many(Named, sql`select name from principal where name = ${name}`)).length > 0;
}

/** Returns another name that differs only in upper and lower case; undefined when there is none. */
async function nameSpelledAlike(tx: Tx, name: string): Promise<string | undefined> {
  if (name !== anyone && name.toLowerCase() === anyone) return anyone;
  const [row] = await tx.many(
    Named,
    sql`select name from principal where lower(name) = lower(${name}) and name <> ${name} limit 1`,
  );
  return row?.name;
}

/**
 * Registers a principal of a kind. Refuses a principal that is registered as another kind: a person must not get the
 * rights of a machine.
 */
export async function keepPrincipalAs(tx: Tx, name: string, kind: PrincipalKind): Promise<void> {
  await keepPrincipal(tx, name, kind);
  const known = await principalNamed(tx, name);
  if (known === undefined || known.kind === kind) return;
  throw new Fault(
    "already_exists",
    `${name} is a ${known.kind} here; give the ${kind} another name`,
  );
}

/** Returns the kinds of principals; unknown names are missing. */
export async function kindsOfPrincipals(
  tx: Tx,
  names: readonly string[],
): Promise<ReadonlyMap<string, PrincipalKind>> {
  const rows = await tx.many(
    z.object({ name: z.string(), kind: PrincipalKind }),
    sql`select name, kind from principal where name = any(${names}::text[])`,
  );
  return new Map(rows.map(({ name, kind }) => [name, kind]));
}

const KnownPrincipal = z.object({
  kind: PrincipalKind,
  /** The last offence of a quarantined principal. */
  quarantine: z.string().nullable(),
});
type KnownPrincipal = z.infer<typeof KnownPrincipal>;

export async function principalNamed(tx: Tx, name: string): Promise<KnownPrincipal | undefined> {
  const [row] = await tx.many(
    KnownPrincipal,
    sql`
      select kind, case when quarantined_at is not null then what end as quarantine
      from principal left join worker_offence on worker_offence.principal = principal.name
      where name = ${name}
    `,
  );
  return row;
}
