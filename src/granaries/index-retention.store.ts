import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { IndexKey } from "./commit-index.store.ts";

/** Records that indexes were used, at most once an hour. */
export async function touchIndexes(tx: Tx, keys: readonly IndexKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    update commit_index
    set last_used_at = now()
    from ${keysTable(keys)}
    where ${isNamed} and commit_index.last_used_at < now() - interval '1 hour'
  `);
}

const IndexedBranch = z.object({
  project: z.string(),
  repository: z.string(),
  branch: z.string(),
});
type IndexedBranch = z.infer<typeof IndexedBranch>;

/** Returns the branches that have indexes. */
export function indexedBranches(tx: Tx, domain: TrustDomain): Promise<IndexedBranch[]> {
  return tx.many(
    IndexedBranch,
    sql`
      select distinct project, repository, branch
      from commit_index
      where domain = ${domain} and branch <> ''
    `,
  );
}

const TipIndex = z
  .object({ project: z.string(), index: z.string() })
  .transform(({ index, project }) => ({ project, digest: parseDigestKey(index) }));
export type TipIndex = z.infer<typeof TipIndex>;

/** Returns a branch's newest indexes, one for each environment in which the branch was built recently. */
export function tipsOfBranch(
  tx: Tx,
  { project, repository, branch }: IndexedBranch,
  request: {
    readonly domain: TrustDomain;
    readonly most: number;
    readonly mostEnvironments: number;
  },
): Promise<TipIndex[]> {
  return tx.many(
    TipIndex,
    sql`
      select project, index
      from (
        select project, environment, index, max(updated_at) over (partition by environment) as built_at,
          row_number() over (partition by environment order by updated_at desc, commit) as place
        from commit_index
        where project = ${project} and repository = ${repository} and branch = ${branch}
          and domain = ${request.domain}
      ) as ranked
        join (
          select environment
          from commit_index
          where project = ${project} and repository = ${repository} and branch = ${branch}
            and domain = ${request.domain}
          group by environment
          order by max(updated_at) desc, environment
          limit ${request.mostEnvironments}
        ) as lately using (environment)
      where place <= ${request.most}
      order by built_at desc, environment, place
    `,
  );
}

const UnusedIndex = z.object({
  project: z.string(),
  domain: TrustDomain,
  repository: z.string(),
  commit: z.string(),
  environment: z.string(),
  branch: z.string(),
  newer: z.number(),
  place: z.string(),
});
export type UnusedIndex = z.infer<typeof UnusedIndex>;

/**
 * Returns indexes that were not used since, the longest unused first, beginning after `after`; with the number of newer
 * ones on their branch, up to `mostNewer`.
 */
export function unusedIndexes(
  tx: Tx,
  request: {
    readonly before: Date;
    readonly after: string;
    readonly mostNewer: number;
    readonly most: number;
  },
): Promise<UnusedIndex[]> {
  return tx.many(
    UnusedIndex,
    sql`
      select project, domain, repository, commit, environment, branch,
        to_char(last_used_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || ' ' || commit as place,
        (
          select count(*)::integer
          from (
            select from commit_index as other
            where other.project = old.project and other.repository = old.repository
              and other.environment = old.environment and other.branch = old.branch and old.branch <> ''
              and other.domain = old.domain and other.updated_at > old.updated_at
            limit ${request.mostNewer}
          ) as newer
        ) as newer
      from commit_index as old
      where last_used_at < ${request.before}
        and to_char(last_used_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || ' ' || commit > ${request.after}
      order by last_used_at, commit
      limit ${request.most}
    `,
  );
}

/** Deletes indexes that are still unused; their blobs are evicted when the store needs space. */
export function deleteIndexes(tx: Tx, keys: readonly IndexKey[], before: Date): Promise<number> {
  return tx.run(sql`
    delete from commit_index
    using ${keysTable(keys)}
    where ${isNamed} and commit_index.last_used_at < ${before}
  `);
}

const isNamed: Sql = {
  text: ["project", "domain", "repository", "commit", "environment"]
    .map((column) => `commit_index.${column} = named.${column}`)
    .join(" and "),
  values: [],
};

function keysTable(keys: readonly IndexKey[]) {
  return sql`unnest(
    ${keys.map(({ project }) => project)}::text[],
    ${keys.map(({ domain }) => domain)}::text[],
    ${keys.map(({ repository }) => repository)}::text[],
    ${keys.map(({ commit }) => commit)}::text[],
    ${keys.map(({ environment }) => environment)}::text[]
  ) as named (project, domain, repository, commit, environment)`;
}
