import { z } from "zod";
import { type Digest, digestKey, parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/** The key of an index: a commit and an environment. */
export interface IndexKey {
  readonly project: string;
  readonly domain: TrustDomain;
  readonly repository: string;
  readonly commit: string;
  readonly environment: string;
}

const StoredIndex = z
  .object({
    project: z.string(),
    domain: TrustDomain,
    repository: z.string(),
    commit: z.string(),
    environment: z.string(),
    tree: z.string(),
    branch: z.string(),
    index: z.string(),
    base: z.string(),
    chain: z.number(),
    complete: z.boolean(),
    targets: z.array(z.string()),
    entries: z.number(),
    bytes: z.number(),
    builds: z.number(),
    version: z.number(),
    updated_at: z.date(),
    last_used_at: z.date(),
  })
  .transform(({ index, base, complete, updated_at, last_used_at, ...row }) => ({
    ...row,
    digest: parseDigestKey(index),
    base: base === "" ? undefined : parseDigestKey(base),
    isComplete: complete,
    updatedAt: updated_at,
    lastUsedAt: last_used_at,
  }));
export type StoredIndex = z.infer<typeof StoredIndex>;

const columns: Sql = {
  text: `project, domain, repository, commit, environment, tree, branch, index, base, chain, complete, targets,
    entries, bytes, builds, version, updated_at, last_used_at`,
  values: [],
};

interface IndexRequest {
  readonly project: string;
  readonly domains: readonly TrustDomain[];
  readonly repository: string;
  readonly commits: readonly string[];
  readonly tree: string;
  readonly branch: string;
  readonly environment: string;
}

/**
 * The number of indexes that are read for the same tree and for the branch: the newest may be
 * incomplete.
 */
const mostOfEach = 3;

/** Returns all indexes that could serve a build, in no order. */
export function candidateIndexes(tx: Tx, request: IndexRequest): Promise<StoredIndex[]> {
  const same = sql`project = ${request.project} and domain = any(${request.domains}::text[])
    and repository = ${request.repository} and environment = ${request.environment}`;
  return tx.many(
    StoredIndex,
    sql`
      (select ${columns} from commit_index where ${same} and commit = any(${request.commits}::text[]))
      union
      (select ${columns} from commit_index where ${same} and tree = ${request.tree} and tree <> ''
        order by updated_at desc limit ${mostOfEach})
      union
      (select ${columns} from commit_index where ${same} and branch = ${request.branch} and branch <> ''
        order by updated_at desc limit ${mostOfEach})
    `,
  );
}

/** Returns a repository's newest indexes, of any branch. */
export function newestOfRepository(
  tx: Tx,
  request: Pick<IndexRequest, "project" | "domains" | "repository" | "environment">,
): Promise<StoredIndex[]> {
  return tx.many(
    StoredIndex,
    sql`
      select ${columns} from commit_index
      where project = ${request.project} and domain = any(${request.domains}::text[])
        and repository = ${request.repository} and environment = ${request.environment}
      order by updated_at desc limit ${mostOfEach}
    `,
  );
}

export async function indexOfCommit(tx: Tx, key: IndexKey): Promise<StoredIndex | undefined> {
  const [row] = await tx.many(
    StoredIndex,
    sql`select ${columns} from commit_index where ${is(key)}`,
  );
  return row;
}

/** Returns a commit's most recently changed index, of any environment. */
export async function newestIndexOfCommit(
  tx: Tx,
  { project, domain, repository, commit }: Omit<IndexKey, "environment">,
): Promise<StoredIndex | undefined> {
  const [row] = await tx.many(
    StoredIndex,
    sql`
      select ${columns} from commit_index
      where project = ${project} and domain = ${domain} and repository = ${repository}
        and commit = ${commit}
      order by updated_at desc
      limit 1
    `,
  );
  return row;
}

export interface NewIndex extends IndexKey {
  readonly tree: string;
  readonly branch: string;
  readonly digest: Digest;
  /** The base of the stored delta. */
  readonly base: Digest | undefined;
  readonly chain: number;
  readonly isComplete: boolean;
  readonly targets: readonly string[];
  readonly entries: number;
  readonly bytes: number;
  readonly principal: string;
}

/** Stores a commit's first index; false when another server was faster. */
export async function addIndex(tx: Tx, index: NewIndex): Promise<boolean> {
  const added = await tx.run(sql`
    insert into commit_index (project, domain, repository, commit, environment, tree, branch, index, base,
      chain, complete, targets, entries, bytes, principal)
    values (${index.project}, ${index.domain}, ${index.repository}, ${index.commit}, ${index.environment},
      ${index.tree}, ${index.branch}, ${digestKey(index.digest)}, ${baseText(index)}, ${index.chain}, ${index.isComplete},
      ${JSON.stringify(index.targets)}::jsonb, ${index.entries}, ${index.bytes}, ${index.principal})
    on conflict (project, domain, repository, commit, environment) do nothing
  `);
  return added > 0;
}

/** Replaces the version that was read; returns false when that is no longer the latest. */
export async function replaceIndex(tx: Tx, index: NewIndex, readVersion: number): Promise<boolean> {
  const changed = await tx.run(sql`
    update commit_index
    set tree = case when ${index.tree} = '' then tree else ${index.tree} end,
        branch = case when ${index.branch} = '' then branch else ${index.branch} end,
        index = ${digestKey(index.digest)},
        base = ${baseText(index)},
        chain = ${index.chain},
        complete = ${index.isComplete},
        targets = ${JSON.stringify(index.targets)}::jsonb,
        entries = ${index.entries},
        bytes = ${index.bytes},
        builds = builds + 1,
        principal = ${index.principal},
        version = version + 1,
        updated_at = now(),
        last_used_at = now()
    where ${is(index)} and version = ${readVersion}
  `);
  return changed > 0;
}

/** Returns how many indexes a project got since a time in a domain, counted up to `most`. */
export async function countNewIndexes(
  tx: Tx,
  { project, domain }: Pick<IndexKey, "project" | "domain">,
  since: Date,
  most: number,
): Promise<number> {
  const [row] = await tx.many(
    z.object({ count: z.number() }),
    sql`
      select count(*)::integer as count
      from (
        select from commit_index
        where project = ${project} and domain = ${domain} and updated_at >= ${since} and created_at >= ${since}
        limit ${most}
      ) as new
    `,
  );
  return row?.count ?? 0;
}

/** A project's indexes in a domain, the last changed first. */
export function newestIndexes(
  tx: Tx,
  { project, domain }: Pick<IndexKey, "project" | "domain">,
  most: number,
): Promise<StoredIndex[]> {
  return tx.many(
    StoredIndex,
    sql`
      select ${columns} from commit_index
      where project = ${project} and domain = ${domain}
      order by updated_at desc, commit
      limit ${most}
    `,
  );
}

function baseText({ base }: NewIndex): string {
  return base === undefined ? "" : digestKey(base);
}

function is({ project, domain, repository, commit, environment }: IndexKey) {
  return sql`project = ${project} and domain = ${domain} and repository = ${repository}
    and commit = ${commit} and environment = ${environment}`;
}
