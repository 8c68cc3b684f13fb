import { type Sql, sql } from "#db/sql.ts";

/** Returns a condition: by then, a repository must be read or a command must be executed. */
export function hasForgeWorkBy(by: Date): Sql {
  return sql`
    exists (select from forge_repository where next_at <= ${by})
      or exists (select from forge_delivery where state = 'waiting' and next_at <= ${by})
      or exists (select from forge_comment where state = 'waiting' and next_at <= ${by})
  `;
}
