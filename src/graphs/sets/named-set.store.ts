import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";

const SetRow = z.object({ id: GraphId });

/** The set of a name; undefined when there is none. */
export async function setOfName(tx: Tx, name: string): Promise<GraphId | undefined> {
  const [row] = await tx.many(SetRow, sql`select id from named_set where name = ${name}`);
  return row?.id;
}

/**
 * Takes a name for the set that a graph begins, unless the name is taken; returns the set that then has the name.
 *
 * Waits for a concurrent transaction that takes the same name. Undefined when the graph's set has another name already.
 */
export async function nameSet(
  tx: Tx,
  set: { readonly name: string; readonly id: GraphId; readonly by: string },
): Promise<GraphId | undefined> {
  await tx.run(sql`
    insert into named_set (name, id, named_by) values (${set.name}, ${set.id}, ${set.by})
    on conflict do nothing
  `);
  return setOfName(tx, set.name);
}

/** The set that a graph is in; undefined when there is no such graph. */
export async function setOfGraph(tx: Tx, graph: GraphId): Promise<GraphId | undefined> {
  const [row] = await tx.many(SetRow, sql`select set_id as id from graph where id = ${graph}`);
  return row?.id;
}

const Place = z.object({ repository: z.string(), branch: z.string(), graphs: z.number() });
type PlaceInSet = z.infer<typeof Place>;

/** Returns the repositories and branches of a set's graphs, with their numbers. */
export function placesOfSet(tx: Tx, set: GraphId): Promise<PlaceInSet[]> {
  return tx.many(
    Place,
    sql`
      select repository, branch, count(*) as graphs from graph where set_id = ${set}
      group by repository, branch
      order by repository, branch
    `,
  );
}
