import { z } from "zod";
import type { FoundObject } from "#api/find.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import { containsWords } from "#db/contains-words.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

/** Older invocations are found in their list. */
const invocationsRead = 2_000;

/** Returns invocations by id, tool and principal, the newest first. `words` are in lower case. */
export async function findInvocations(
  tx: Tx,
  { words, places, limit }: { words: readonly string[]; places: PlacePatterns; limit: number },
): Promise<Extract<FoundObject, { kind: "invocation" }>[]> {
  const rows = await tx.many(
    z.object({ id: z.string(), project: z.string(), tool: z.string(), principal: z.string() }),
    sql`
      select id, project, tool_name as tool, principal
      from (
        select id, project, tool_name, principal, first_seen_at from invocation
        where ${inPlaces(places, sql`project`)} order by first_seen_at desc, id limit ${invocationsRead}
      ) as newest
      where ${containsWords(sql`concat_ws(' ', id, tool_name, principal, project)`, words)}
      order by first_seen_at desc, id limit ${limit}
    `,
  );
  return rows.map((row) => ({ kind: "invocation", ...row }));
}
