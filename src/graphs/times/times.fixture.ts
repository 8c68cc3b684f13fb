import { randomUUID } from "node:crypto";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";

/** Runs of one job: how long they were blocked, waited and ran. */
interface MadeUpRun {
  readonly job: string;
  readonly blockedMs?: number;
  readonly waitMs: number;
  readonly runMs: number;
  /** `waiting`: it still waits. `given-up`: it was cancelled, or expired, before it started. */
  readonly never?: "waiting" | "given-up";
  readonly outcome?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly platform?: Readonly<Record<string, string>>;
}

/** Stores a graph that is over, made at `at`; its jobs ran at once, one run each. */
export async function storeMadeUpGraph(
  tx: Tx,
  at: Date,
  runs: readonly MadeUpRun[],
  of: { readonly repository?: string; readonly branch?: string } = {},
): Promise<GraphId> {
  const { repository = "made-up", branch = "main" } = of;
  const id = GraphId.parse(randomUUID());
  const digest = (n: number) => `${"d".repeat(60)}${String(n).padStart(4, "0")}/1`;
  await tx.run(
    sql`insert into repository (name, url) values (${repository}, ${`/${repository}`}) on conflict do nothing`,
  );
  await tx.run(sql`insert into catalog (digest) values (${digest(0)}) on conflict do nothing`);
  const platforms = [...new Set(runs.map((run) => JSON.stringify(run.platform ?? {})))];
  const definitionOf = (run: MadeUpRun) => {
    const text = JSON.stringify(run.platform ?? {});
    return digest(
      Array.from(text).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_000, 1),
    );
  };
  await tx.run(sql`
    insert into definition (digest, body)
    select d.digest, jsonb_build_object('platform', d.platform)
    from unnest(${platforms.map((text) => definitionOf({ job: "", waitMs: 0, runMs: 0, platform: JSON.parse(text) as Record<string, string> }))}::text[],
                ${platforms}::jsonb[]) as d (digest, platform)
    on conflict do nothing
  `);
  const ends = runs.map(({ blockedMs = 0, waitMs, runMs }) => blockedMs + waitMs + runMs);
  const finishedAt = new Date(at.getTime() + Math.max(...ends));
  await tx.run(sql`
    insert into graph (id, set_id, repository, branch, commit, rev, subject, author, committed_at, catalog,
                       parameters, domain, skip_cache, counts, state, created_at, finished_at)
    values (${id}, ${id}, ${repository}, ${branch}, ${"c".repeat(40)}, 'main', 's', 'a', ${at}, ${digest(0)},
            '{}', 'protected', false, ${JSON.stringify({ succeeded: runs.length })}::jsonb, 'succeeded', ${at}, ${finishedAt})
  `);
  const rows = runs.map((run) => {
    const { blockedMs = 0, waitMs, runMs, outcome = "succeeded", tags = {}, job } = run;
    const time = (ms: number) => new Date(at.getTime() + ms).toISOString();
    if (run.never !== undefined) {
      const isOver = run.never === "given-up";
      return {
        job,
        outcome: isOver ? "cancelled" : null,
        tags,
        definition: definitionOf(run),
        state: isOver ? "cancelled" : "queued",
        run_state: isOver ? "finished" : "queued",
        ready_at: time(blockedMs),
        started_at: null,
        finished_at: isOver ? time(blockedMs + waitMs) : null,
      };
    }
    return {
      job,
      outcome,
      run_state: "finished",
      tags,
      definition: definitionOf(run),
      state: outcome === "succeeded" ? "succeeded" : "failed",
      ready_at: time(blockedMs),
      started_at: time(blockedMs + waitMs),
      finished_at: time(blockedMs + waitMs + runMs),
    };
  });
  const recordset = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
    as r (job text, outcome text, run_state text, tags jsonb, definition text, state text, ready_at timestamptz,
          started_at timestamptz, finished_at timestamptz)`;
  await tx.run(sql`
    insert into job (graph_id, name, definition, kind, tags, state, runs, retries, open_edges,
                     ready_at, started_at, finished_at)
    select ${id}, job, definition, 'command', tags, state, 1, 0, 0, ready_at, started_at, finished_at
    from ${recordset}
  `);
  await tx.run(sql`
    insert into run (graph_id, job, number, cause, state, served_by, outcome, wanted_at, ready_at, queued_at, started_at, finished_at)
    select ${id}, job, 1, 'first', run_state, case run_state when 'queued' then 'items' else 'execution' end, outcome, ${at}, ready_at, ready_at, started_at, finished_at
    from ${recordset}
  `);
  return id;
}
