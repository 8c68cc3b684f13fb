import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "./graph-id.ts";

/**
 * Finds graphs by an id, the beginning of an id, or `latest`.
 *
 * Returns at most two: the caller only needs to know whether the text was unique.
 */
export async function findGraphs(tx: Tx, written: string): Promise<GraphId[]> {
  const Found = z.object({ id: GraphId });
  if (written === "latest") {
    const newest = await tx.many(Found, sql`select id from graph order by number desc limit 1`);
    return newest.map(({ id }) => id);
  }
  if (!/^[0-9a-f-]{4,36}$/i.test(written)) return [];
  // The range of all ids with that beginning, so that the primary key serves it.
  const lowest = fill(written, "0");
  const highest = fill(written, "f");
  if (lowest === undefined || highest === undefined) return [];
  const found = await tx.many(
    Found,
    sql`select id from graph where id between ${lowest}::uuid and ${highest}::uuid limit 2`,
  );
  return found.map(({ id }) => id);
}

function fill(beginning: string, digit: string): string | undefined {
  const shape = "00000000-0000-0000-0000-000000000000";
  const whole = beginning.toLowerCase() + shape.slice(beginning.length).replaceAll("0", digit);
  return z.guid().safeParse(whole).success ? whole : undefined;
}
