import { z } from "zod";
import { RequestKind, RequestState } from "#api/benchmark-request.ts";
import { Components } from "#artifacts/component.ts";
import type { KnownArtifact } from "#artifacts/known-artifacts.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const StoredArtifact = z.object({
  id: z.number(),
  suite: z.string(),
  tag: z.string(),
  kind: RequestKind,
  datedAt: z.date(),
  components: Components,
  parentId: z.number().nullable(),
  commit: z.string().nullable(),
});
export type StoredArtifact = z.infer<typeof StoredArtifact>;

const columns = sql`
  artifact.id, artifact.suite, artifact.tag, artifact.kind, artifact.dated_at as "datedAt", artifact.components,
  artifact.parent_id as "parentId", artifact.commit_sha as commit
`;

export async function findArtifact(
  tx: Tx,
  suite: string,
  tag: string,
): Promise<StoredArtifact | undefined> {
  const [artifact] = await tx.many(
    StoredArtifact,
    sql`select ${columns} from benchmark_artifact as artifact where suite = ${suite} and tag = ${tag}`,
  );
  return artifact;
}

export function artifactsById(tx: Tx, ids: readonly number[]): Promise<StoredArtifact[]> {
  return tx.many(
    StoredArtifact,
    sql`select ${columns} from benchmark_artifact as artifact where id = any(${ids}::int[])`,
  );
}

/** Returns the newest artifact of the main line; optionally among those made until a time. */
export async function newestMaster(
  tx: Tx,
  suite: string,
  until: Date | null = null,
): Promise<StoredArtifact | undefined> {
  const [artifact] = await tx.many(
    StoredArtifact,
    sql`
      select ${columns} from benchmark_artifact as artifact
      where suite = ${suite} and kind = 'master' and (${until}::timestamptz is null or dated_at <= ${until})
      order by dated_at desc, tag desc limit 1
    `,
  );
  return artifact;
}

/**
 * Stores artifacts that a source lists. Returns the ids of those that have become available.
 *
 * The download address of a requested artifact does not change, even if the source knows a newer build of the same day:
 * all figures of one tag must be figures of the same bytes.
 */
export async function keepArtifacts(
  tx: Tx,
  suite: string,
  known: readonly KnownArtifact[],
  now: Date,
): Promise<number[]> {
  if (known.length === 0) return [];
  const rows = JSON.stringify(
    known.map(({ tag, kind, datedAt, components, commit }) => ({
      tag,
      kind,
      dated_at: datedAt.toISOString(),
      components,
      commit_sha: commit,
    })),
  );
  const kept = await tx.many(
    z.object({ id: z.number() }),
    sql`
      with told as (
        select * from jsonb_to_recordset(${rows}::jsonb)
          as t (tag text, kind text, dated_at timestamptz, components jsonb, commit_sha text)
      ), before as (
        select artifact.tag from benchmark_artifact as artifact join told using (tag)
        where artifact.suite = ${suite} and artifact.components = '{}'
      ), kept as (
        insert into benchmark_artifact as artifact
          (suite, tag, kind, dated_at, components, commit_sha, known_since)
        select ${suite}, tag, kind, dated_at, components, commit_sha, ${now} from told
        order by dated_at, tag
        on conflict (suite, tag) do update
        set components = case
              when exists (select from benchmark_request as request where request.artifact_id = artifact.id)
                or exists (select from benchmark_result as result where result.artifact_id = artifact.id)
              then excluded.components || artifact.components
              else artifact.components || excluded.components
            end,
            commit_sha = coalesce(artifact.commit_sha, excluded.commit_sha)
        where not artifact.components @> excluded.components
          or (artifact.commit_sha is null and excluded.commit_sha is not null)
        returning artifact.id, artifact.tag
      )
      select kept.id from kept join before using (tag)
    `,
  );
  await linkParents(tx, suite, known);
  return kept.map(({ id }) => id);
}

/** Records the parent of each artifact if it is unknown, or if another artifact was inserted between them. */
async function linkParents(tx: Tx, suite: string, known: readonly KnownArtifact[]): Promise<void> {
  const links = known.flatMap(({ tag, parent }) => (parent === null ? [] : [{ tag, parent }]));
  await tx.run(sql`
    update benchmark_artifact as artifact set parent_id = parent.id
    from jsonb_to_recordset(${JSON.stringify(links)}::jsonb) as link (tag text, parent text),
      benchmark_artifact as parent
    where artifact.suite = ${suite} and artifact.tag = link.tag
      and parent.suite = ${suite} and parent.tag = link.parent
      and artifact.parent_id is distinct from parent.id and artifact.id <> parent.id
  `);
}

/** Adds an artifact that no source lists, because a person builds it. */
export async function addArtifact(
  tx: Tx,
  artifact: Omit<StoredArtifact, "id" | "commit">,
  now: Date,
): Promise<StoredArtifact> {
  const { suite, tag, kind, datedAt, components, parentId } = artifact;
  const [added] = await tx.many(
    StoredArtifact,
    sql`
      insert into benchmark_artifact as artifact
        (suite, tag, kind, dated_at, components, parent_id, known_since)
      values (${suite}, ${tag}, ${kind}, ${datedAt}, ${JSON.stringify(components)}::jsonb, ${parentId}, ${now})
      returning ${columns}
    `,
  );
  if (added === undefined) throw new Error("an insert answers its row");
  return added;
}

/** Adds backends; existing ones stay unchanged. */
export async function addComponents(tx: Tx, id: number, components: Components): Promise<void> {
  await tx.run(sql`
    update benchmark_artifact set components = ${JSON.stringify(components)}::jsonb || components
    where id = ${id}
  `);
}

const Ancestor = StoredArtifact.extend({
  hasResults: z.boolean(),
  hasRequest: z.boolean(),
});
export type Ancestor = z.infer<typeof Ancestor>;

/** Returns the predecessors of an artifact, the nearest first, up to a limit. */
export function ancestorsOf(tx: Tx, parentId: number, most: number): Promise<Ancestor[]> {
  return tx.many(
    Ancestor,
    sql`
      with recursive line as (
        select id, parent_id, 1 as depth, array[id] as seen
        from benchmark_artifact where id = ${parentId}
        union all
        select parent.id, parent.parent_id, line.depth + 1, line.seen || parent.id
        from line join benchmark_artifact as parent on parent.id = line.parent_id
        where line.depth < ${most} and parent.id <> all(line.seen)
      )
      select ${columns},
        exists (select from benchmark_result as result where result.artifact_id = artifact.id) as "hasResults",
        exists (select from benchmark_request as request where request.artifact_id = artifact.id) as "hasRequest"
      from line join benchmark_artifact as artifact on artifact.id = line.id
      order by line.depth
    `,
  );
}

/**
 * Returns artifacts of a kind that were never requested as a whole, the newest first. Single benchmarks of them may
 * have been requested.
 */
export function artifactsWithoutRequest(
  tx: Tx,
  suite: string,
  kind: "master" | "release",
  since: Date | null,
  newest: number | null,
): Promise<StoredArtifact[]> {
  return tx.many(
    StoredArtifact,
    sql`
      with newest as (
        select id from benchmark_artifact
        where suite = ${suite} and kind = ${kind} and (${since}::timestamptz is null or dated_at >= ${since})
        order by dated_at desc, tag desc limit ${newest}
      )
      select ${columns} from newest join benchmark_artifact as artifact using (id)
      where not exists (
        select from benchmark_request as request
        where request.artifact_id = artifact.id and request.backends = '{}' and request.profiles = '{}'
          and request.targets = '{}' and request.benchmarks = '{}')
      order by dated_at desc, tag desc
    `,
  );
}

const ListedArtifact = StoredArtifact.extend({
  parent: z.string().nullable(),
  state: RequestState.nullable(),
});

/** Returns a page of a suite's artifacts, the newest first; `before` is the tag of the client's last one. */
export function artifactsPage(
  tx: Tx,
  query: {
    readonly suite: string;
    readonly kind: RequestKind | undefined;
    readonly before: string | undefined;
    readonly limit: number;
  },
): Promise<z.infer<typeof ListedArtifact>[]> {
  const { suite, kind = null, before = null, limit } = query;
  return tx.many(
    ListedArtifact,
    sql`
      select ${columns}, parent.tag as parent, latest.state
      from benchmark_artifact as artifact
      left join benchmark_artifact as parent on parent.id = artifact.parent_id
      left join lateral (
        select state from benchmark_request as request where request.artifact_id = artifact.id
        order by created_at desc limit 1
      ) as latest on true
      where artifact.suite = ${suite} and (${kind}::text is null or artifact.kind = ${kind})
        and (${before}::text is null or (artifact.dated_at, artifact.tag) < (
          select dated_at, tag from benchmark_artifact where suite = ${suite} and tag = ${before}))
      order by artifact.dated_at desc, artifact.tag desc
      limit ${limit}
    `,
  );
}
