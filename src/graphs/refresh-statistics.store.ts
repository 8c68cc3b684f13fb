import type { Db } from "#db/db.ts";

/** Above this number of jobs, the planner's statistics of the tables may be far off. */
const manyJobs = 1_000;

/**
 * Makes PostgreSQL analyse the tables of graphs after many jobs were stored; its own autovacuum comes within a minute.
 * Not awaited, because it takes up to 0.3 s; skipped when another analysis runs.
 */
export function refreshStatistics(db: Db, jobsStored: number): void {
  if (jobsStored < manyJobs) return;
  // If it fails, statements are slower for a minute but still correct.
  db.script("analyze (skip_locked) job, edge").catch(() => {});
}
