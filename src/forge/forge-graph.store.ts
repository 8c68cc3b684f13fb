import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const ForgeGraph = z.object({
  id: z.string(),
  repository: z.string(),
  ref: z.string(),
  sha: z.string(),
  pull: z.number().nullable(),
  generation: z.number(),
  madeAt: z.date(),
  cancelledAt: z.date().nullable(),
});
export type ForgeGraph = z.infer<typeof ForgeGraph>;

const columns = sql`
  id, repository, ref, sha, pull, generation, made_at as "madeAt", cancelled_at as "cancelledAt"
`;

/** The graphs of a commit on a ref, the latest first. */
export function graphsOfCommit(
  tx: Tx,
  { repository, ref, sha }: Pick<ForgeGraph, "repository" | "ref" | "sha">,
): Promise<ForgeGraph[]> {
  return tx.many(
    ForgeGraph,
    sql`
      select ${columns} from forge_graph
      where repository = ${repository} and ref = ${ref} and sha = ${sha} order by generation desc
    `,
  );
}

/** For a pull request, the latest first. */
export function graphsOfPull(tx: Tx, repository: string, pull: number): Promise<ForgeGraph[]> {
  return tx.many(
    ForgeGraph,
    sql`
      select ${columns} from forge_graph
      where repository = ${repository} and pull = ${pull} order by made_at desc, generation desc
    `,
  );
}

/** Returns the latest graphs of some commits, the oldest first. */
export function latestGraphs(
  tx: Tx,
  repository: string,
  shas: readonly string[],
): Promise<ForgeGraph[]> {
  return tx.many(
    ForgeGraph,
    sql`
      select ${columns} from forge_graph
      where repository = ${repository} and sha = any(${shas}::text[]) order by made_at, generation
    `,
  );
}

/** Written before the graph is made, so that the farm finds the graph after a crash. */
export async function insertForgeGraph(
  tx: Tx,
  graph: Omit<ForgeGraph, "cancelledAt">,
): Promise<void> {
  await tx.run(sql`
    insert into forge_graph (id, repository, ref, sha, pull, generation, made_at)
    values (${graph.id}, ${graph.repository}, ${graph.ref}, ${graph.sha}, ${graph.pull},
            ${graph.generation}, ${graph.madeAt})
    on conflict do nothing
  `);
}

export async function forgetForgeGraph(tx: Tx, id: string): Promise<void> {
  await tx.run(sql`delete from forge_graph where id = ${id}`);
}

/**
 * Marks a pull request's graphs as no longer needed, for all commits except `keep`.
 *
 * Written before they are cancelled, so that a graph that is needed again meanwhile is made again.
 */
export async function markGraphsUnneeded(
  tx: Tx,
  {
    repository,
    pull,
    keep,
    now,
  }: {
    readonly repository: string;
    readonly pull: number;
    readonly keep: string | undefined;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(sql`
    update forge_graph set cancelled_at = ${now}
    where repository = ${repository} and pull = ${pull} and cancelled_at is null
      and sha is distinct from ${keep ?? null}::text
  `);
}

export function graphsToTell(tx: Tx, repository: string): Promise<ForgeGraph[]> {
  return tx.many(
    ForgeGraph,
    sql`
      select ${columns} from forge_graph
      where repository = ${repository} and cancelled_at is not null and not is_told
    `,
  );
}

export async function noteTold(tx: Tx, id: string): Promise<void> {
  await tx.run(sql`update forge_graph set is_told = true where id = ${id}`);
}
