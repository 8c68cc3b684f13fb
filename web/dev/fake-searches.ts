import { Search, SearchDetail, StartedSearch, StartSearch } from "#api/search.ts";
import type { FakeFarm } from "./fake-farm.ts";
import { commitFor } from "./made-up-graph.ts";

const commits = 100;

/** Starts a search that has requested some of a hundred commits; or returns its forecast. */
export function startFakeSearch(farm: FakeFarm, body: unknown): StartedSearch {
  const asked = StartSearch.parse(body);
  const isBisect = asked.kind === "bisect";
  const probes = isBisect ? 7 : Math.ceil(commits / asked.step);
  const search = Search.parse({
    id: `s-${farm.searches.length + 1}`,
    kind: asked.kind,
    repository: asked.repository,
    branch: "main",
    selection: asked.selection,
    after: commitFor("0"),
    last: commitFor(String(commits)),
    step: isBisect ? 1 : asked.step,
    parallel: isBisect ? asked.parallel : 1,
    sameResults: isBisect ? asked.sameResults : 1,
    state: "running",
    startedBy: "anyone",
    reason: null,
    set: null,
    commits,
    counts: { good: 1, bad: 1, asked: 1, unknown: commits - 3 },
    remaining: [40, 41, 42].map((position) => commitOf(position)),
    message: null,
    createdAt: new Date().toISOString(),
    finishedAt: null,
  });
  if (!asked.dryRun) farm.searches.unshift(search);
  return StartedSearch.parse({
    forecast: {
      commits,
      known: 2,
      rounds: isBisect ? 7 : null,
      probes,
      jobsPerCommit: 3,
      jobs: probes * 3,
      commitMs: 60_000,
      workerMs: probes * 180_000,
      cost: null,
      unknownJobs: 0,
    },
    search: asked.dryRun ? null : search,
  });
}

/** Ends a bisection: this commit is the first bad one. */
export function findFirstBad(farm: FakeFarm, id: string, position: number): void {
  const at = farm.searches.findIndex((search) => search.id === id);
  const search = farm.searches[at];
  if (search === undefined) return;
  farm.searches[at] = {
    ...search,
    state: "finished",
    remaining: [{ ...commitOf(position), standing: "bad" }],
    finishedAt: new Date().toISOString(),
  };
}

export function fakeSearch(search: Search): SearchDetail {
  return SearchDetail.parse({
    ...search,
    commitList: Array.from({ length: commits }, (_each, index) => commitOf(commits - index)),
    next: null,
  });
}

function commitOf(position: number) {
  const standing = position === 41 ? "asked" : position < 40 ? "good" : "unknown";
  return {
    position,
    commit: commitFor(String(position)),
    standing,
    graphId: null,
    why: null,
  } as const;
}
