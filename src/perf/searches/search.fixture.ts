import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import {
  aSuite,
  emptyLab,
  labEpoch,
  type StoredArtifact,
  storeArtifact,
  storeSuite,
} from "../perf.fixture.ts";
import { caseIds } from "../results/name-figures.store.ts";
import { advanceSearches } from "./advance-searches.ts";
import { askForFigure } from "./ask-for-figure.ts";
import { readBenchmarkSearch } from "./search.store.ts";
import { viewSearch } from "./search-view.ts";
import { startBenchmarkSearch } from "./start-search.ts";

export const alpha: TestCase = {
  section: "compile",
  benchmark: "alpha",
  profile: "check",
  scenario: "full",
  backend: "js",
  target: "linux-x64",
};
export const ask = askForFigure(() => labEpoch);

/** Creates a main line of forty days without measurements, and a simulated collector. */
export async function aLineToSearch(db: Db) {
  await emptyLab(db);
  await storeSuite(db, aSuite());
  await db.run(sql`
    insert into benchmark_metric (suite, ordinal, name, nature, unit)
    values ('demo', 1, 'wall-time', 'noisy', 'seconds'), ('demo', 2, 'instructions', 'deterministic', 'instructions')
  `);
  await db.run(sql`
    insert into benchmark_environment (fingerprint, facts, first_seen_at) values ('here', '{}', now())
  `);
  const line: StoredArtifact[] = [];
  for (let i = 0; i < 40; i++) {
    line.push(
      await storeArtifact(db, {
        tag: `nightly-${String(i).padStart(2, "0")}`,
        datedAt: new Date(labEpoch.getTime() + i * 86_400_000),
      }),
    );
  }

  /** Simulates a collector for all requests: each request ends, and those with a figure get a result. */
  async function measureRequested(
    figure: (position: number) => number | undefined,
  ): Promise<number> {
    const caseId = (await caseIds(db, "demo", [alpha])).get(caseKey(alpha)) ?? 0;
    let measured = 0;
    for (const [position, artifact] of line.entries()) {
      const ended = await db.run(sql`
        update benchmark_request set state = 'completed', started_at = now(), ended_at = now()
        where artifact_id = ${artifact.id} and ended_at is null
      `);
      if (ended === 0) continue;
      measured += 1;
      const value = figure(position);
      if (value === undefined) continue;
      await db.run(sql`
        insert into benchmark_result (artifact_id, case_id, environment_id, least, iterations, collector_name, measured_at)
        select ${artifact.id}, ${caseId}, id, ${[1, value]}::float8[], 1, 'c', now() from benchmark_environment
      `);
    }
    return measured;
  }

  async function searchWith(
    kind: "scan" | "change-points" | "bisect",
    figure: (position: number) => number | undefined,
    more: { every?: number | "week" | "month" } = {},
  ) {
    const id = await startBenchmarkSearch(
      db,
      {
        suite: "demo",
        kind,
        case: alpha,
        from: "nightly-00",
        to: "nightly-39",
        least: 0.01,
        ...more,
      },
      "ada",
      labEpoch,
    );
    for (let round = 0; round < 60; round++) {
      await advanceSearches(db, labEpoch, ask);
      const now = await readBenchmarkSearch(db, id);
      if (now === undefined) throw new Error("the search is gone");
      if (now.state !== "running") return viewSearch(db, now);
      await measureRequested(figure);
    }
    throw new Error("the search does not end");
  }

  return { line, measureRequested, searchWith };
}
