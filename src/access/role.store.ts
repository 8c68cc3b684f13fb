import { z } from "zod";
import { Verb } from "#core/verb.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Role = z.object({
  name: z.string(),
  verbs: z.array(z.union([Verb, z.literal("*")])),
  builtIn: z.boolean(),
  setBy: z.string(),
});
type Role = z.infer<typeof Role>;

/** Returns all roles, those of the farm itself first. */
export function listRoles(tx: Tx): Promise<Role[]> {
  return tx.many(
    Role,
    sql`
      select name, verbs, built_in as "builtIn", set_by as "setBy" from role
      order by not built_in, set_at, name
    `,
  );
}

/** Sets the verbs of a role. Returns false, and changes nothing, when the role is built in. */
export async function setRole(
  tx: Tx,
  {
    name,
    verbs,
    by,
  }: { readonly name: string; readonly verbs: readonly string[]; readonly by: string },
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(sql`
    insert into role (name, verbs, set_at, set_by) values (${name}, ${verbs}::text[], ${now}, ${by})
    on conflict (name) do update
    set verbs = excluded.verbs, set_at = excluded.set_at, set_by = excluded.set_by
    where not role.built_in
  `);
  return changed > 0;
}

/**
 * Removes a role. Returns false when there is none of this name, when it is built in, or when a grant names it.
 */
export async function removeRole(tx: Tx, name: string): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from role
    where name = ${name} and not built_in
      and not exists (select from grant_rule where verb = ${`role:${name}`})
  `);
  return removed > 0;
}
