import { randomUUID } from "node:crypto";
import type { Db } from "#db/db.ts";

/** The jobs of a busy farm, inserted without their usual processing. */
interface StoredJobs {
  readonly blocked: number;
  readonly ready: number;
}

const jobsPerGraph = 1_000;

/**
 * Stores graphs whose jobs are blocked, each by the first job of its graph, and one graph whose jobs are ready.
 *
 * Inserted by SQL, because a hundred thousand submissions would be most of the benchmark.
 */
export async function storeJobs(db: Db, { blocked, ready }: StoredJobs): Promise<void> {
  const digest = `${"0".repeat(64)}/1`;
  await db.script(`
    insert into repository (name, url) values ('bench', 'bench') on conflict do nothing;
    insert into definition (digest, body)
      values ('${digest}', '{"script": "true", "platform": {"OSFamily": "linux"}}') on conflict do nothing;
    insert into catalog (digest) values ('${digest}') on conflict do nothing;
  `);
  for (let done = 0; done < blocked; done += jobsPerGraph) {
    const id = await storeGraph(db, digest);
    const count = Math.min(jobsPerGraph, blocked - done);
    await db.script(`
      insert into job (graph_id, name, definition, kind, tags, state, wanted, wanted_at, wanted_by, retries, open_edges)
        select '${id}', 'job-' || n, '${digest}', 'command', '{}', 'blocked', 'first', now(), 'anyone', 0, 1
        from generate_series(1, ${count}) as n;
      insert into job (graph_id, name, definition, kind, tags, state, runs, retries, open_edges)
        values ('${id}', 'first', '${digest}', 'command', '{}', 'queued', 1, 0, 0);
      insert into edge (graph_id, job, on_job, condition)
        select '${id}', 'job-' || n, 'first', 'success' from generate_series(1, ${count}) as n;
    `);
  }
  if (ready > 0) {
    const id = await storeGraph(db, digest);
    await db.script(`
      insert into job (graph_id, name, definition, kind, tags, state, wanted, wanted_at, wanted_by, retries, open_edges, ready_at)
        select '${id}', 'ready-' || n, '${digest}', 'command', '{}', 'ready', 'first', now(), 'anyone', 0, 0, now()
        from generate_series(1, ${ready}) as n;
    `);
  }
}

async function storeGraph(db: Db, catalog: string): Promise<string> {
  const id = randomUUID();
  await db.script(`
    insert into graph (id, set_id, repository, commit, rev, subject, author, committed_at, catalog,
                       parameters, domain, skip_cache, counts)
      values ('${id}', '${id}', 'bench', '${"0".repeat(40)}', 'main', 'bench', 'bench', now(), '${catalog}',
              '{}', 'protected', false, '{}');
  `);
  return id;
}
