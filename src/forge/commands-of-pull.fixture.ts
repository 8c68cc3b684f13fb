import { z } from "zod";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Command = z.object({
  author: z.string(),
  command: z.string(),
  head: z.string(),
  headSeenAt: z.date().nullable(),
  edited: z.boolean(),
});

/** Returns the commands in the comments on a pull request, in order. */
export function commandsOfPull(
  db: Db,
  repository: string,
  pull: number,
): Promise<z.infer<typeof Command>[]> {
  return db.many(
    Command,
    sql`
      select author, command, head, edited, head_seen_at as "headSeenAt"
      from forge_comment where repository = ${repository} and pull = ${pull}
      order by created_at, id
    `,
  );
}
