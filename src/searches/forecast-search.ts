import type { GraphPreview } from "#api/preview.ts";
import type { SearchForecast } from "#api/search.ts";
import type { Tx } from "#db/db.ts";
import { expectedRounds, turnWithin } from "./next-probes.ts";
import { knownStandings } from "./range-commit.store.ts";
import type { NewSearch } from "./search.store.ts";

interface KnownBefore {
  /** Commits whose result is already known. */
  readonly known: number;
  /** For the newest commit: the selected jobs and everything that they need. */
  readonly preview: GraphPreview;
  /** The price per worker and minute; 0 for a farm without prices. */
  readonly price: number;
}

/**
 * Estimates the upper limit of the work of a search that is stored in this transaction.
 *
 * It uses the newest commit for all: its jobs, and their recent durations.
 */
export async function forecastSearch(
  tx: Tx,
  search: NewSearch,
  { known, preview, price }: KnownBefore,
): Promise<SearchForecast> {
  const { kind, commits, parallel, sameResults } = search;
  const jobs = preview.jobs.filter(({ state }) => state !== "inactive");
  const left = await leftToBisect(tx, search);
  const rounds = kind === "bisect" ? expectedRounds(left, parallel) : null;
  const probes =
    rounds === null ? commits - known : Math.min(rounds * parallel, Math.max(0, left - 1));
  const runs = probes * sameResults;
  const workerMs = jobs.reduce((sum, { expectedMs }) => sum + (expectedMs ?? 0), 0) * runs;
  return {
    commits,
    known,
    rounds,
    probes,
    jobsPerCommit: jobs.length,
    jobs: jobs.length * runs,
    commitMs: preview.criticalPathMs,
    workerMs,
    cost: price === 0 ? null : (workerMs / 60_000) * price,
    unknownJobs: jobs.filter(({ expectedMs }) => expectedMs === null).length,
  };
}

/** Returns the number of commits among which the first bad one is, by the known results. */
async function leftToBisect(tx: Tx, { id, commits }: NewSearch): Promise<number> {
  const { low, high } = turnWithin({ last: commits, known: await knownStandings(tx, id) });
  return high - low;
}
