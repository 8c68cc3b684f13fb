import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant, requireGrantSomewhere } from "#access/require-grant.ts";
import type { SearchForecast, StartSearch } from "#api/search.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { asksAbout } from "#api/selection/selection.ts";
import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { type CommitRange, commitsOfRange, countRange } from "#git/first-parent-range.ts";
import { addressOfRepository, knownRepository } from "#graphs/catalogs/known-repository.store.ts";
import { previewGraph } from "#graphs/catalogs/preview-graph.ts";
import { graphsOfCommits } from "#graphs/graphs-of-commits.store.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { judgeGraphs, type RangeServices } from "./ask-commit.ts";
import { forecastSearch } from "./forecast-search.ts";
import {
  commitsAfter,
  type OpenCommit,
  type StandingOfCommit,
  saveStandings,
} from "./range-commit.store.ts";
import { insertRangeCommits, insertSearch, type NewSearch, SearchId } from "./search.store.ts";

/** The number of commits stored at a time; a range may have a million commits. */
const commitsAtOnce = 5_000;

/** The number of graphs that are searched at a time for existing results. */
const graphsAtOnce = 500;

/** Thrown to roll back a dry run, which performs all initial steps of a real search. */
class OnlyForecast extends Error {
  readonly forecast: SearchForecast;
  constructor(forecast: SearchForecast) {
    super("a dry run stores nothing");
    this.forecast = forecast;
  }
}

/**
 * Starts a search, or returns the forecast for it. The search continues even if this server stops.
 *
 * Throws `invalid_argument` for an invalid range, `failed_precondition` when known results contradict it, and
 * `permission_denied`.
 */
export async function startSearch(
  services: RangeServices,
  request: z.output<typeof StartSearch>,
  by: Principal,
): Promise<{ readonly id: SearchId | undefined; readonly forecast: SearchForecast }> {
  requireGrantSomewhere(by, "submit");
  if (asksAbout(parseSelection(request.selection), "state")) {
    const message = "a search selects jobs by name, tag or kind: each commit has its own states";
    throw new Fault("invalid_argument", message);
  }
  const { range, url, branch } = await rangeOf(services, request, by);
  const all = await countRange(services.git, range);
  const step = request.kind === "backfill" ? request.step : 1;
  const commits = Math.ceil(all / step);
  if (commits === 0) throw new Fault("invalid_argument", "there is no commit between the two");
  const id = SearchId.parse(randomUUID());
  const repository = await services.db.transaction(async (tx) => {
    const named = await nameRepository(tx, url);
    // In the same transaction, so that a refused request does not use up the name that another repository needs.
    requireGrant(by, "submit", { repository: named, branch });
    return named;
  });
  // A result that is needed several times is requested by retriggering.
  if (request.kind === "bisect" && request.sameResults > 1)
    requireGrant(by, "retrigger", { repository, branch });
  const select = request.selection;
  const preview = await previewGraph(
    services,
    { repository: url, rev: range.last, branch, select },
    by,
  );
  const price = services.pricePerWorkerMinute;
  try {
    return await services.db.transaction(async (tx) => {
      const search: NewSearch = {
        id,
        kind: request.kind,
        repository,
        branch,
        selection: request.selection,
        after: range.after,
        last: range.last,
        commits,
        step,
        parallel: request.kind === "bisect" ? request.parallel : 1,
        sameResults: request.kind === "bisect" ? request.sameResults : 1,
        startedBy: by.name,
        reason: request.reason,
      };
      await insertSearch(tx, search);
      await storeRange(tx, services, search, range);
      const known = await takeKnownResults(tx, search);
      const forecast = await forecastSearch(tx, search, { known, preview, price });
      if (request.dryRun) throw new OnlyForecast(forecast);
      const { after, last, selection } = search;
      const detail = {
        search: id,
        kind: request.kind,
        repository,
        after,
        last,
        selection,
        commits,
      };
      await recordAudit(tx, { actor: by.name, verb: "submit", detail, reason: request.reason });
      return { id, forecast };
    });
  } catch (reason) {
    if (reason instanceof OnlyForecast) return { id: undefined, forecast: reason.forecast };
    throw reason;
  }
}

async function rangeOf(
  { db, mirrors, access }: RangeServices,
  request: z.output<typeof StartSearch>,
  by: Principal,
): Promise<{ readonly range: CommitRange; readonly url: string; readonly branch: string }> {
  const [from, to] =
    request.kind === "backfill" ? [request.from, request.to] : [request.good, request.bad];
  const name = await knownRepository(db, request.repository);
  const source = name === undefined ? request.repository : await addressOfRepository(db, name);
  await access.requireMayRead(by, source);
  const last = await mirrors.fetchCommit(source, to);
  const after = await mirrors.fetchCommit(source, from);
  return {
    range: { mirror: last.mirror, after: after.sha, last: last.sha },
    url: last.repository,
    branch: last.branch ?? "",
  };
}

/** Stores the commits, or every nth one back from the last: the position of the last is their number. */
async function storeRange(
  tx: Tx,
  { git }: RangeServices,
  { id, commits, step }: NewSearch,
  range: CommitRange,
): Promise<void> {
  let batch: CommitSha[] = [];
  let newest = commits;
  let seen = 0;
  const flush = async () => {
    await insertRangeCommits(tx, id, newest, batch);
    newest -= batch.length;
    batch = [];
  };
  for await (const commit of commitsOfRange(git, range)) {
    if (seen++ % step === 0) batch.push(commit);
    if (batch.length === commitsAtOnce) await flush();
  }
  await flush();
}

/** Copies the results that graphs of these commits already have. Returns how many commits are known. */
async function takeKnownResults(tx: Tx, search: NewSearch): Promise<number> {
  const known = new Map<number, StandingOfCommit>();
  for (let after = 0; ; ) {
    const commits = await commitsAfter(tx, search.id, after, commitsAtOnce);
    const last = commits.at(-1);
    if (last === undefined) break;
    after = last.position;
    for (const each of await resultsOf(tx, search, commits)) known.set(each.position, each);
  }
  if (search.kind === "bisect" && known.get(search.commits)?.standing === "good") {
    const message = `${search.last.slice(0, 10)} is known to be good: see graph ${known.get(search.commits)?.graphId}`;
    throw new Fault("failed_precondition", message);
  }
  await saveStandings(tx, search.id, [...known.values()]);
  return known.size;
}

/**
 * Returns the results that graphs of these commits already have. For each commit, the newest graph with a result
 * counts.
 */
async function resultsOf(
  tx: Tx,
  search: NewSearch,
  commits: readonly OpenCommit[],
): Promise<StandingOfCommit[]> {
  const positions = new Map(commits.map(({ commit, position }) => [commit, position]));
  const graphs = await graphsOfCommits(tx, { ...search, commits: [...positions.keys()] });
  const known = new Map<number, StandingOfCommit>();
  for (let at = 0; at < graphs.length; at += graphsAtOnce) {
    const some = graphs.slice(at, at + graphsAtOnce);
    const judged = await judgeGraphs(
      tx,
      search,
      some.map(({ graphId }) => graphId),
    );
    for (const [i, { commit, graphId }] of some.entries()) {
      const kind = judged[i]?.verdict.kind;
      const position = positions.get(commit);
      // The newest graph of a commit comes first.
      if (position !== undefined && (kind === "good" || kind === "bad") && !known.has(position))
        known.set(position, { position, standing: kind, graphId, why: null });
    }
  }
  return [...known.values()];
}
