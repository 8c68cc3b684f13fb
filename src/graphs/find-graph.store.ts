import { z } from "zod";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "./graph-id.ts";

const FoundGraph = z.object({ id: GraphId, repository: z.string(), branch: z.string() });
type FoundGraph = z.infer<typeof FoundGraph>;

/**
 * Finds graphs by an id, the beginning of an id, or `latest`, among those at the given places: others neither make a
 * beginning ambiguous, nor are they the latest.
 *
 * Returns at most two: the caller only needs to know whether the text was unique.
 */
export async function findGraphs(
  tx: Tx,
  written: string,
  places: PlacePatterns,
): Promise<FoundGraph[]> {
  const isVisible = inPlaces(places, sql`repository`, sql`branch`);
  if (written === "latest") {
    return tx.many(
      FoundGraph,
      sql`select id, repository, branch from graph where ${isVisible} order by number desc limit 1`,
    );
  }
  if (!/^[0-9a-f-]{4,36}$/i.test(written)) return [];
  // The range of all ids with that beginning, so that the primary key serves it.
  const lowest = fill(written, "0");
  const highest = fill(written, "f");
  if (lowest === undefined || highest === undefined) return [];
  return tx.many(
    FoundGraph,
    sql`
      select id, repository, branch from graph
      where id between ${lowest}::uuid and ${highest}::uuid and ${isVisible}
      limit 2
    `,
  );
}

function fill(beginning: string, digit: string): string | undefined {
  const shape = "00000000-0000-0000-0000-000000000000";
  const whole = beginning.toLowerCase() + shape.slice(beginning.length).replaceAll("0", digit);
  return z.guid().safeParse(whole).success ? whole : undefined;
}
