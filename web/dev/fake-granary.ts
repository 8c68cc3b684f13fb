import type { z } from "zod";
import {
  CommitIndexes,
  CommitIndexPage,
  type CommitIndexSummary,
  GranaryBuildReport,
  GranaryBuilds,
  type IndexedResult,
  Quarantine,
  type QuarantinedResult,
  ReleaseResult,
  Savings,
  type SavingsOfDay,
} from "#api/granary.ts";
import { StoreStanding } from "#api/store.ts";
import { FakeRefusal } from "./fake-refusal.ts";

/** The reports of granaries, in memory. */
export class FakeGranary {
  /** The newest first. */
  builds: GranaryBuildReport[] = [];
  days: SavingsOfDay[] = [];
  indexes: CommitIndexSummary[] = [];
  results: z.infer<typeof IndexedResult>[] = [];
  quarantined: QuarantinedResult[] = [];
  /** Whether the caller may release results from quarantine. */
  mayRelease = true;
  store: StoreStanding = {
    limitBytes: null,
    counted: null,
    evicted: null,
    scrubbed: null,
    evictedInAll: { blobs: 0, bytes: 0, names: 0 },
  };
}

const project = (query: URLSearchParams) => query.get("project") ?? "default";

export function fakeGranary(
  granary: FakeGranary,
  [kind, id]: readonly string[],
  query: URLSearchParams,
  body: unknown,
): unknown {
  switch (kind) {
    case "savings":
      return Savings.parse({ days: project(query) === "default" ? granary.days : [] });
    case "builds":
      return id === undefined ? fakeBuilds(granary, query) : fakeBuild(granary, id);
    case "indexes":
      return CommitIndexes.parse({
        indexes: granary.indexes.filter((index) => index.project === project(query)),
      });
    case "index":
      return fakeIndex(granary, query);
    case "quarantine":
      if (id === "release") release(granary, ReleaseResult.parse(body));
      if (id === "made-from") takeAlso(granary, ReleaseResult.parse(body));
      return Quarantine.parse({ results: granary.quarantined });
    default:
      throw new FakeRefusal(404, "not_found", `there is no ${kind}`);
  }
}

export const fakeStore = (granary: FakeGranary) => StoreStanding.parse(granary.store);

function fakeBuilds({ builds }: FakeGranary, query: URLSearchParams): GranaryBuilds {
  const commit = query.get("commit");
  const passing = builds.filter(
    (build) => build.project === project(query) && (commit === null || build.commit === commit),
  );
  const after = query.get("after");
  const from = after === null ? 0 : passing.findIndex(({ id }) => id === after) + 1;
  const page = passing.slice(from, from + Number(query.get("limit") ?? 50));
  const isLast = from + page.length >= passing.length;
  return GranaryBuilds.parse({ builds: page, next: isLast ? null : (page.at(-1)?.id ?? null) });
}

function fakeBuild({ builds }: FakeGranary, id: string): GranaryBuildReport {
  const found = builds.find((build) => build.id === id);
  if (found === undefined) throw new FakeRefusal(404, "not_found", "there is no such build");
  return GranaryBuildReport.parse(found);
}

function fakeIndex({ indexes, results }: FakeGranary, query: URLSearchParams): CommitIndexPage {
  const index = indexes.find((each) => each.commit === query.get("commit"));
  if (index === undefined) throw new FakeRefusal(404, "not_found", "there is no such index");
  const from = Number(query.get("from") ?? 0);
  const next = from + 200;
  return CommitIndexPage.parse({
    index,
    results: results.slice(from, next),
    next: next < results.length ? next : null,
  });
}

function takeAlso(granary: FakeGranary, { key }: ReleaseResult): void {
  granary.quarantined = granary.quarantined.map((result) =>
    result.divergence.key === key ? { ...result, alsoInQuarantine: result.madeFrom } : result,
  );
}

function release(granary: FakeGranary, { key }: ReleaseResult): void {
  if (!granary.mayRelease) {
    throw new FakeRefusal(403, "permission_denied", '"anyone" has no right to administer');
  }
  granary.quarantined = granary.quarantined.map((result) =>
    result.divergence.key === key
      ? { ...result, releasedAt: new Date().toISOString(), releasedBy: "ada" }
      : result,
  );
}
