import type { Db } from "#db/db.ts";

/** From here on, what the planner knows of the tables may be far from what they hold. */
const manyJobs = 1_000;

/**
 * Lets PostgreSQL look at the tables of graphs again after many jobs were stored; its own autovacuum comes within a
 * minute. Nobody waits for it, since it takes up to 0.3 s; who finds another at it leaves it to that one.
 */
export function refreshStatistics(db: Db, jobsStored: number): void {
  if (jobsStored < manyJobs) return;
  // When it fails, statements are slower for a minute, and no less right.
  db.script("analyze (skip_locked) job, edge").catch(() => {});
}
