import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { BuildKey } from "./build.store.ts";
import type { FileSetUpdate, NamedFile, TestUpdate } from "./build-update.ts";

/** The changes of a target, with its files. */
export interface TargetChange {
  readonly label: string;
  readonly aspect: string;
  readonly targetKind?: string;
  readonly success?: boolean;
  readonly aborted?: string;
  readonly testStatus?: string;
  readonly durationMs?: number;
  readonly outputs: readonly NamedFile[];
}

const Inserted = z.object({ inserted: z.boolean() });

/** Stores changes of targets; returns how many were unknown before. With `onlyKnown`, those are left out. */
export async function saveTargets(
  tx: Tx,
  { project, invocation }: BuildKey,
  changes: readonly TargetChange[],
  onlyKnown: boolean,
): Promise<number> {
  if (changes.length === 0) return 0;
  const rows = await tx.many(
    Inserted,
    sql`
      insert into build_target as t
        (project, invocation, label, aspect, kind, success, aborted, test_status, duration_ms, outputs)
      select ${project}, ${invocation}, label, aspect, coalesce("targetKind", ''), success, aborted,
        "testStatus", "durationMs", outputs
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (
        label text, aspect text, "targetKind" text, success boolean, aborted text,
        "testStatus" text, "durationMs" bigint, outputs jsonb)
      where not ${onlyKnown}::boolean or exists (
        select from build_target known
        where known.project = ${project} and known.invocation = ${invocation}
          and known.label = change.label and known.aspect = change.aspect)
      on conflict (project, invocation, label, aspect) do update
      set kind = case when excluded.kind = '' then t.kind else excluded.kind end,
        success = coalesce(excluded.success and t.success, excluded.success, t.success),
        aborted = coalesce(t.aborted, excluded.aborted),
        test_status = coalesce(excluded.test_status, t.test_status),
        duration_ms = coalesce(excluded.duration_ms, t.duration_ms),
        outputs = case when excluded.outputs = '[]' then t.outputs else excluded.outputs end
      returning (xmax = 0) as inserted
    `,
  );
  return rows.filter(({ inserted }) => inserted).length;
}

/** Stores attempts of tests; returns how many were new. */
export async function saveTests(
  tx: Tx,
  { project, invocation }: BuildKey,
  tests: readonly TestUpdate[],
): Promise<number> {
  if (tests.length === 0) return 0;
  const rows = await tx.many(
    Inserted,
    sql`
      insert into build_test
        (project, invocation, label, configuration, run, shard, attempt, status, started_at, duration_ms,
         cached, files)
      select distinct on (label, configuration, run, shard, attempt)
        ${project}, ${invocation}, label, configuration, run, shard, attempt, status, "startedAt",
        "durationMs", cached, files
      from jsonb_to_recordset(${JSON.stringify(tests)}::jsonb) as test (
        label text, configuration text, run integer, shard integer, attempt integer, status text,
        "startedAt" timestamptz, "durationMs" bigint, cached boolean, files jsonb)
      on conflict (project, invocation, label, configuration, run, shard, attempt) do update
      set status = excluded.status, started_at = excluded.started_at,
        duration_ms = excluded.duration_ms, cached = excluded.cached, files = excluded.files
      returning (xmax = 0) as inserted
    `,
  );
  return rows.filter(({ inserted }) => inserted).length;
}

/** Stores sets of files, each once: the first with an id counts. Returns how many are new. */
export async function saveFileSets(
  tx: Tx,
  { project, invocation }: BuildKey,
  sets: readonly FileSetUpdate[],
): Promise<number> {
  if (sets.length === 0) return 0;
  return tx.run(sql`
    insert into build_file_set (project, invocation, id, files, sets)
    select ${project}, ${invocation}, id, files,
      array(select jsonb_array_elements_text(told.sets))
    from jsonb_to_recordset(${JSON.stringify(sets)}::jsonb) as told (id text, files jsonb, sets jsonb)
    on conflict do nothing
  `);
}

const SetRow = z.object({
  /** The position of the request to which it belongs, from 1. */
  nth: z.number(),
  id: z.string(),
  files: z.array(z.object({ name: z.string(), uri: z.string() })),
});
type SetRow = z.infer<typeof SetRow>;

/**
 * For each list of sets, returns their files and those of the sets in them, each set once, so that a cycle of sets
 * ends. The bounds apply to each list.
 */
export async function filesOfSets(
  tx: Tx,
  { project, invocation }: BuildKey,
  wanted: readonly (readonly string[])[],
  bounds: { readonly sets: number; readonly files: number },
): Promise<NamedFile[][]> {
  if (wanted.every((roots) => roots.length === 0)) return wanted.map(() => []);
  const sets = await tx.many(
    SetRow,
    sql`
      select asked.nth, found.id, found.files
      from jsonb_array_elements(${JSON.stringify(wanted)}::jsonb) with ordinality as asked (roots, nth)
      cross join lateral (
        with recursive reached (id) as (
          select jsonb_array_elements_text(asked.roots)
          union
          select unnest(part_of.sets)
          from reached join build_file_set part_of
            on part_of.project = ${project} and part_of.invocation = ${invocation}
            and part_of.id = reached.id
        )
        select told.id, told.files
        from (select id from reached limit ${bounds.sets}) as walked
        join build_file_set told
          on told.project = ${project} and told.invocation = ${invocation} and told.id = walked.id
        where told.files <> '[]'
        limit ${bounds.files}
      ) as found
    `,
  );
  const found: SetRow[][] = wanted.map(() => []);
  for (const set of sets) found[set.nth - 1]?.push(set);
  return wanted.map((roots, index) => inOrder(roots, found[index] ?? [], bounds.files));
}

/** Orders the roots' own files first, in their order; then the deeper ones. */
function inOrder(
  roots: readonly string[],
  sets: readonly SetRow[],
  mostFiles: number,
): NamedFile[] {
  const byId = new Map(sets.map(({ id, files }) => [id, files]));
  const files = [...new Set(roots)].flatMap((id) => byId.get(id) ?? []);
  for (const { id, files: deeper } of sets) if (!roots.includes(id)) files.push(...deeper);
  return files.slice(0, mostFiles);
}

/** When a build is complete, its targets contain the files of the sets. */
export async function dropFileSets(tx: Tx, { project, invocation }: BuildKey): Promise<void> {
  await tx.run(sql`
    delete from build_file_set where project = ${project} and invocation = ${invocation}
  `);
}
