import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import type { CommitGrid, GridColumns, GridFilters } from "#api/commit-grid.ts";
import { Fault } from "#core/fault.ts";
import { changedPath, commitsThatChange } from "#git/commits-that-change.ts";
import { addressOfRepository } from "#graphs/catalogs/known-repository.store.ts";
import { commitGrid, commitsOfGrid } from "#graphs/commit-grid.store.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import type { Services } from "./services.ts";

/** The graphs whose commits one request compares, at most. */
const mostGraphs = 2_000;
const graphsAtOnce = 250;
/** A request ends after this time; the next page continues there. */
const mostMs = 5_000;

interface GridOfPath extends GridFilters {
  readonly repository: string;
  readonly columns?: GridColumns | undefined;
  readonly limit: number;
  readonly before: GraphId | undefined;
}

/**
 * Returns a page of the grid with only commits that change a path.
 *
 * Bounded in number and time: `before` of the answer then names the last graph that was looked at, and there may be
 * fewer rows than `limit`. The farm's mirror has the commits; no other machine is contacted.
 */
export async function gridOfPath(
  { db, git, mirrors }: Pick<Services, "db" | "git" | "mirrors">,
  caller: Principal,
  written: string,
  request: GridOfPath,
): Promise<CommitGrid> {
  const path = changedPath(written);
  const places = placesOf(caller, ["read"]);
  const endsAt = performance.now() + mostMs;
  const found: GraphId[] = [];
  let { before } = request;
  let isLast = false;
  for (let seen = 0; seen < mostGraphs && !isLast; seen += graphsAtOnce) {
    const some = await commitsOfGrid(db, { ...request, places, before, limit: graphsAtOnce });
    const [first] = some;
    if (first === undefined) {
      isLast = true;
      break;
    }
    if (performance.now() >= endsAt) break;
    const address = await addressOfRepository(db, request.repository);
    if (!(await mirrors.hasCommit(address, first.commit))) {
      throw new Fault(
        "failed_precondition",
        `the farm has no copy of ${request.repository} with commit ${first.commit.slice(0, 10)}; it makes one when the next graph is submitted`,
      );
    }
    const { mirror } = await mirrors.fetchCommit(address, first.commit);
    const commits = [...new Set(some.map(({ commit }) => commit))];
    const changed = await commitsThatChange(git, {
      mirror,
      commits,
      path,
      timeoutMs: Math.max(1, endsAt - performance.now()),
    });
    isLast = some.length < graphsAtOnce;
    for (const { id, commit } of some) {
      before = id;
      if (changed.has(commit)) found.push(id);
      if (found.length === request.limit) {
        const more = !isLast || id !== some.at(-1)?.id;
        return page(found, more ? id : null);
      }
    }
  }
  return page(found, isLast ? null : (before ?? null));

  async function page(graphs: readonly GraphId[], next: GraphId | null): Promise<CommitGrid> {
    const { columns, limit, repository } = request;
    const rows = await db.transaction((tx) =>
      commitGrid(tx, { repository, columns, limit, places, graphs }),
    );
    return { ...rows, before: next };
  }
}
