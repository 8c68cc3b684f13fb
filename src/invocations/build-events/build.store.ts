import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { BuildFacts } from "./build-facts.ts";

/** The tool chooses an invocation's id, so the id is only unique within a project. */
export interface BuildKey {
  readonly project: string;
  readonly invocation: string;
}

const NamedFileRow = z.object({ name: z.string(), uri: z.string() });
const Pairs = z.record(z.string(), z.string());

const Row = z.object({
  buildId: z.string(),
  principal: z.string(),
  acknowledged: z.number(),
  complete: z.boolean(),
  command: z.string(),
  toolVersion: z.string(),
  patterns: z.array(z.string()),
  options: z.array(z.string()),
  keywords: z.array(z.string()),
  metadata: Pairs,
  workspaceStatus: Pairs,
  user: z.string(),
  host: z.string(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  exitCode: z.number().nullable(),
  exitName: z.string().nullable(),
  result: z.string().nullable(),
  failure: z.string().nullable(),
  metrics: z.record(z.string(), z.number()),
  profile: NamedFileRow.nullable(),
  firstHeardAt: z.date(),
  lastHeardAt: z.date(),
  logBytes: z.number(),
  targets: z.number(),
  tests: z.number(),
  fileSets: z.number(),
});
export type BuildRow = z.infer<typeof Row>;

const columns = sql`
  build_id as "buildId", principal, acknowledged, complete, command, tool_version as "toolVersion",
  patterns, options, keywords, metadata, workspace_status as "workspaceStatus", user_name as "user", host,
  repository, branch, commit, started_at as "startedAt", finished_at as "finishedAt",
  exit_code as "exitCode", exit_name as "exitName", result, failure, metrics,
  case when profile_name is not null
    then jsonb_build_object('name', profile_name, 'uri', profile_uri) end as profile,
  first_heard_at as "firstHeardAt", last_heard_at as "lastHeardAt", log_bytes as "logBytes",
  targets, tests, file_sets as "fileSets"
`;

/** Locks the row of a build until the transaction ends; creates it when there is none. */
export async function lockBuild(
  tx: Tx,
  key: BuildKey,
  first: { readonly buildId: string; readonly principal: string; readonly now: Date },
): Promise<BuildRow> {
  const { project, invocation } = key;
  const found = await lockKnown(tx, key);
  if (found !== undefined) return found;
  await tx.run(sql`
    insert into build (project, invocation, build_id, principal, first_heard_at, last_heard_at)
    values (${project}, ${invocation}, ${first.buildId}, ${first.principal}, ${first.now}, ${first.now})
    on conflict do nothing
  `);
  const made = await lockKnown(tx, key);
  if (made === undefined) throw new Fault("aborted", `build ${invocation} was deleted just now`);
  return made;
}

async function lockKnown(tx: Tx, { project, invocation }: BuildKey): Promise<BuildRow | undefined> {
  const [row] = await tx.many(
    Row,
    sql`
      select ${columns} from build
      where project = ${project} and invocation = ${invocation}
      for no key update
    `,
  );
  return row;
}

export async function readBuild(
  tx: Tx,
  { project, invocation }: BuildKey,
): Promise<BuildRow | undefined> {
  const [row] = await tx.many(
    Row,
    sql`select ${columns} from build where project = ${project} and invocation = ${invocation}`,
  );
  return row;
}

/** The counts that grow with each batch of events. */
interface BuildCounts {
  readonly acknowledged: number;
  readonly logBytes: number;
  readonly targets: number;
  readonly tests: number;
  readonly fileSets: number;
}

/** Call it while the row is locked, like `saveFacts`. */
export async function saveCounts(
  tx: Tx,
  { project, invocation }: BuildKey,
  counts: BuildCounts,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update build
    set acknowledged = ${counts.acknowledged}, log_bytes = ${counts.logBytes},
      targets = ${counts.targets}, tests = ${counts.tests}, file_sets = ${counts.fileSets},
      last_heard_at = greatest(last_heard_at, ${now})
    where project = ${project} and invocation = ${invocation}
  `);
}

export async function saveFacts(
  tx: Tx,
  { project, invocation }: BuildKey,
  facts: BuildFacts,
): Promise<void> {
  await tx.run(sql`
    update build
    set complete = ${facts.complete}, command = ${facts.command}, tool_version = ${facts.toolVersion},
      patterns = ${facts.patterns}, options = ${facts.options}, keywords = ${facts.keywords},
      metadata = ${JSON.stringify(facts.metadata)},
      workspace_status = ${JSON.stringify(facts.workspaceStatus)},
      user_name = ${facts.user}, host = ${facts.host}, repository = ${facts.repository},
      branch = ${facts.branch}, commit = ${facts.commit},
      started_at = ${facts.startedAt}, finished_at = ${facts.finishedAt},
      exit_code = ${facts.exitCode}, exit_name = ${facts.exitName},
      result = ${facts.result}, failure = ${facts.failure},
      metrics = ${JSON.stringify(facts.metrics)},
      profile_name = ${facts.profile?.name ?? null}, profile_uri = ${facts.profile?.uri ?? null}
    where project = ${project} and invocation = ${invocation}
  `);
}

/** Records that its stream is open. Nothing is stored for an unknown build. */
export async function noteHeard(
  tx: Tx,
  { project, invocation }: BuildKey,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update build set last_heard_at = greatest(last_heard_at, ${now})
    where project = ${project} and invocation = ${invocation}
  `);
}

/**
 * Deletes builds without events since `before`, with all their data.
 *
 * A limited number at a time, so that no transaction is long: call it until it returns 0.
 */
export function deleteOldBuilds(tx: Tx, before: Date, atMost = 20): Promise<number> {
  return tx.run(sql`
    delete from build
    where (project, invocation) in (
      select project, invocation from build
      where last_heard_at < ${before}
      order by last_heard_at limit ${atMost}
      for update skip locked
    )
  `);
}
