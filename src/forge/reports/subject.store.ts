import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Subject = z.object({
  repository: z.string(),
  kind: z.enum(["graph", "request"]),
  id: z.string(),
  sha: z.string(),
  pull: z.number().nullable(),
  name: z.string(),
  wasRequested: z.boolean(),
  notedAt: z.date(),
  toldVersion: z.string().nullable(),
  isOver: z.boolean(),
});
/** A graph or a request for measurement about which the farm reports to a forge. */
export type Subject = z.infer<typeof Subject>;

const columns = sql`
  repository, kind, id, sha, pull, name, was_asked_for as "wasRequested", noted_at as "notedAt",
  told_version as "toldVersion", is_over as "isOver"
`;

/** Stores a subject. An existing one stays, except that an automatic one becomes a requested one. */
export async function noteSubject(
  tx: Tx,
  subject: Omit<Subject, "toldVersion" | "notedAt" | "isOver">,
  now: Date,
): Promise<void> {
  const { repository, kind, id, sha, pull, name, wasRequested } = subject;
  await tx.run(sql`
    insert into forge_subject as known (repository, kind, id, sha, pull, name, was_asked_for, noted_at)
    select watched.name, ${kind}, ${id}::uuid, ${sha}, ${pull}::integer, ${name}, ${wasRequested}::boolean, ${now}
    from forge_repository as watched where watched.name = ${repository}
    on conflict (kind, id, repository, coalesce(pull, 0)) do update
    set was_asked_for = true, is_over = false, told_version = null
    where excluded.was_asked_for and not known.was_asked_for
  `);
}

/** Subjects that may have changed: all unfinished ones, and recent ones, because people may run them again. */
export function subjectsToWatch(tx: Tx, overSince: Date, most: number): Promise<Subject[]> {
  return tx.many(
    Subject,
    sql`
      (select ${columns} from forge_subject where not is_over order by noted_at limit ${most})
      union all
      (select ${columns} from forge_subject where is_over and told_at > ${overSince}
       order by told_at desc limit ${most})
    `,
  );
}

const UnderWay = z.object({ id: z.string(), isShared: z.boolean() });

/**
 * Returns measurement requests from comments on a pull request that may not have ended; includes those shared with
 * another open one with the same head.
 */
export function requestsUnderWay(
  tx: Tx,
  repository: string,
  pull: number,
): Promise<z.infer<typeof UnderWay>[]> {
  return tx.many(
    UnderWay,
    sql`
      select subject.id, exists (
          select from forge_subject as other
          join forge_pull as elsewhere
            on elsewhere.repository = other.repository and elsewhere.number = other.pull
          where other.kind = 'request' and other.id = subject.id and elsewhere.state = 'open'
            and (other.repository, other.pull) <> (subject.repository, subject.pull)
        ) as "isShared"
      from forge_subject as subject
      where subject.repository = ${repository} and subject.pull = ${pull} and subject.kind = 'request'
        and not subject.is_over
    `,
  );
}

/** Whether a check run shows a graph that is still needed. */
export async function hasLiveGraph(
  tx: Tx,
  { repository, sha, name }: Pick<Subject, "repository" | "sha" | "name">,
): Promise<boolean> {
  const found = await tx.many(
    z.object({}),
    sql`
      select from forge_subject as subject join forge_graph as graph using (id)
      where subject.kind = 'graph' and subject.repository = ${repository} and subject.sha = ${sha}
        and subject.name = ${name} and graph.cancelled_at is null
      limit 1
    `,
  );
  return found.length > 0;
}

/** Locks and returns all subjects that share a check run or a pull request's comment, the latest first. */
export function lockTogether(
  tx: Tx,
  { kind, id, repository, sha, pull, name }: Subject,
): Promise<Subject[]> {
  const which =
    kind === "graph"
      ? sql`repository = ${repository} and sha = ${sha} and name = ${name}`
      : pull === null
        ? sql`id = ${id}`
        : sql`repository = ${repository} and pull = ${pull}`;
  return tx.many(
    Subject,
    sql`
      with locked as (
        select ${columns} from forge_subject where kind = ${kind} and ${which} order by id for update
      )
      select repository, kind, id, sha, pull, name, "wasRequested", "notedAt", "toldVersion", "isOver" from locked order by "notedAt" desc, id
    `,
  );
}

/** Marks the reported ones, by the versions that were read before. */
export async function noteTold(
  tx: Tx,
  told: readonly (Pick<Subject, "kind" | "id" | "repository" | "pull"> & {
    readonly version: string | undefined;
    readonly isOver: boolean;
  })[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update forge_subject as known
    set told_version = told.version, is_over = told.is_over, told_at = ${now}
    from unnest(${told.map(({ kind }) => kind)}::text[], ${told.map(({ id }) => id)}::uuid[],
                ${told.map(({ repository }) => repository)}::text[], ${told.map(({ pull }) => pull)}::int[],
                ${told.map(({ version }) => version ?? null)}::text[],
                ${told.map(({ isOver }) => isOver)}::boolean[]) as told (kind, id, repository, pull, version, is_over)
    where known.kind = told.kind and known.id = told.id and known.repository = told.repository
      and known.pull is not distinct from told.pull
  `);
}
