import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { aRequest, aWorker, silent } from "#execution/execution.fixture.ts";
import { registerWorkers } from "#execution/leasing/worker.store.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";
import { readServerConfig } from "#server/config.ts";
import { startServer } from "#server/start-server.ts";
import { launchChromium } from "../../../test/support/chromium.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement } from "../row.ts";
import { PageWatch } from "./page-watch.ts";

const runs = 10_000;
const workers = 50;
const repeats = 5;
const webDir = join(import.meta.dirname, "../../../dist/web");

/** The timeline of workers with 10,000 runs, from its address until it is drawn, and the server's part of it. */
export const tenThousandRuns: Measurement = {
  title: "timeline of 10,000 runs",
  long: false,
  async measure() {
    const dataDir = await mkdtemp(join(tmpdir(), "grange-timeline-"));
    const server = await startServer(
      { ...readServerConfig({ dataDir, port: 0 }, {}), webDir },
      silent,
    );
    const browser = await launchChromium();
    try {
      await addRuns(server.services.db);
      const answers: number[] = [];
      const drawn: number[] = [];
      for (let n = 0; n < repeats; n++) {
        const begun = performance.now();
        await (await fetch(`${server.url}/api/v1/workers/timeline?minutes=60`)).arrayBuffer();
        answers.push(performance.now() - begun);
        // A context of its own has an empty cache.
        const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
        const page = await context.newPage();
        const watch = await PageWatch.on(
          page,
          `document.querySelector('[role=img][aria-label^="Timeline of ${runs} runs"]') !== null`,
        );
        drawn.push(await watch.open(`${server.url}/workers/timeline`));
        await context.close();
      }
      return [
        atMost(
          "timeline of 10,000 runs: drawn after",
          quantile(drawn, 0.5),
          500,
          "ms",
          `from the address, without a cache; ${workers} workers, an hour; median of ${repeats}, the slowest ${Math.round(Math.max(...drawn))} ms, of which the server's answer takes ${Math.round(quantile(answers, 0.5))} ms`,
        ),
      ];
    } finally {
      await browser.close();
      await server.stop();
      await rm(dataDir, { recursive: true });
    }
  },
};

/** Adds ended executions of the last hour, one after the other on each worker: copies of one real row. */
async function addRuns(db: Db): Promise<void> {
  const now = new Date();
  await db.transaction(async (tx) => {
    for (let n = 0; n < workers; n++) await registerWorkers(tx, [aWorker(`worker-${n}`)], now);
    await submitExecutions(tx, [aRequest()], now);
  });
  const perWorker = runs / workers;
  const secondsEach = 3_000 / perWorker;
  await db.run(sql`
    insert into execution (id, project, domain, action_digest, requirements, size_class, invocation, lane,
      place, priority, timeout_ms, do_not_cache, state, attempt, epoch, queued_at, finished_at, outcome, kin)
    select gen_random_uuid(), project, domain, action_digest, requirements, size_class, invocation, lane,
      place, priority, timeout_ms, do_not_cache, 'finished', 1, 1,
      ended - make_interval(secs => ${secondsEach}), ended, case when n % 50 = 0 then 'failed' else 'succeeded' end, kin
    from (select * from execution limit 1) as one, generate_series(1, ${runs}) as n,
      lateral (select ${now}::timestamptz - make_interval(secs => (n / ${workers}) * ${secondsEach}) as ended) as times
  `);
  await db.run(sql`
    insert into execution_attempt (execution_id, attempt, epoch, worker, leased_at, started_at,
      finished_at, outcome, message, size_class, timeout_ms)
    select id, 1, 1, 'worker-' || (row_number() over (order by finished_at)) % ${workers}, queued_at, queued_at + interval '1 s',
      finished_at, outcome, '', 1, 90000
    from execution where state = 'finished'
  `);
  await db.run(sql`delete from execution where state <> 'finished'`);
  await db.run(sql`analyze execution, execution_attempt`);
}
