import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { PrincipalKind } from "./principal.ts";

/** Makes a principal known, as a person where nothing else is said; one that is known stays what it is. */
export async function keepPrincipal(
  tx: Tx,
  name: string,
  kind: PrincipalKind = "person",
): Promise<void> {
  await tx.run(
    sql`insert into principal (name, kind) values (${name}, ${kind}) on conflict do nothing`,
  );
}

/** The same, and refuses one that is known as something else: what a machine holds is no person's. */
export async function keepPrincipalAs(tx: Tx, name: string, kind: PrincipalKind): Promise<void> {
  await keepPrincipal(tx, name, kind);
  const known = await principalNamed(tx, name);
  if (known === undefined || known.kind === kind) return;
  throw new Fault(
    "already_exists",
    `${name} is a ${known.kind} here; give the ${kind} another name`,
  );
}

const KnownPrincipal = z.object({
  kind: PrincipalKind,
  /** What it did last, of one that is quarantined. */
  quarantine: z.string().nullable(),
});
export type KnownPrincipal = z.infer<typeof KnownPrincipal>;

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
