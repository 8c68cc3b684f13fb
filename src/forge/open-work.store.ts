import { type Sql, sql } from "#db/sql.ts";

/** Returns a condition: a repository is to be read, or a command to be carried out, by then. */
export function hasForgeWorkBy(by: Date): Sql {
  return sql`
    exists (select from forge_repository where next_at <= ${by})
      or exists (select from forge_delivery where state = 'waiting' and next_at <= ${by})
      or exists (select from forge_comment where state = 'waiting' and next_at <= ${by})
  `;
}
