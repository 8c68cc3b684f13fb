import type { SessionStanding } from "#api/session.ts";
import {
  fakeBranches,
  fakeCatalog,
  fakeCatalogDiff,
  fakePreview,
  fakeSet,
  fakeSubmission,
  setFakeBranch,
} from "./fake-answers.ts";
import { answerBenchmarks } from "./fake-benchmarks.ts";
import { fakeActionComparison, fakeCacheUse, fakeStoreContents } from "./fake-cache.ts";
import { fakeCommitGrid } from "./fake-commit-grid.ts";
import { fakeComparison, fakeExecutionFailure } from "./fake-failures.ts";
import type { FakeFarm } from "./fake-farm.ts";
import { fakeFind } from "./fake-find.ts";
import { fakeFlaky } from "./fake-flaky.ts";
import { fakeGranary, fakeStore } from "./fake-granary.ts";
import {
  fakeCaches,
  fakeCaller,
  fakeExecution,
  fakeInvocation,
  fakeInvocations,
  fakeTree,
} from "./fake-invocations.ts";
import { fakeOverview } from "./fake-overview.ts";
import { FakeRefusal } from "./fake-refusal.ts";
import { fakeSearch, startFakeSearch } from "./fake-searches.ts";
import { fakeExecutionSizeClass, fakeSizeClasses, fakeSizeClassKeys } from "./fake-size-classes.ts";
import { fakeTargetHistory } from "./fake-targets.ts";
import { fakeTimes } from "./fake-times.ts";
import { fakeTrends } from "./fake-trends.ts";

interface Question {
  /** The address: `/kind/id/rest…`. */
  readonly kind: string;
  readonly id: string | undefined;
  readonly rest: readonly string[];
  readonly url: URL;
  /** Undefined for a GET. */
  readonly body: unknown;
}

/**
 * Answers requests with a complete body: definitions, branches, sets, searches, new graphs. Undefined for all others.
 */
export function answerMadeUp(farm: FakeFarm, { kind, id, rest, url, body }: Question): unknown {
  switch (kind) {
    case "commit-grid":
      return fakeCommitGrid(farm, url.searchParams);
    case "job-trends":
      return fakeTrends(farm, new Date(), url.searchParams);
    case "find":
      return fakeFind(farm, url.searchParams);
    case "times":
      return fakeTimes(new Date());
    case "flaky":
      return fakeFlaky(new Date(), url.searchParams);
    case "overview":
      return fakeOverview(farm);
    case "repositories":
      if (rest[0] !== "branches") return undefined;
      return body === undefined
        ? fakeBranches(farm, id ?? "")
        : setFakeBranch(farm, id ?? "", rest[1] ?? "", body);
    case "sets":
      return fakeSet(farm, id ?? "");
    case "catalogs":
      return id === "diff"
        ? fakeCatalogDiff(url.searchParams.get("a") ?? "", url.searchParams.get("b") ?? "")
        : fakeCatalog();
    case "searches": {
      if (body !== undefined) return startFakeSearch(farm, body);
      if (id === undefined) return farm.searches;
      const search = farm.searches.find((each) => each.id === id);
      if (search === undefined) throw new FakeRefusal(404, "not_found", "no such search");
      return fakeSearch(search);
    }
    case "graphs":
      if (id === "preview") return fakePreview(body);
      return id === undefined && body !== undefined ? fakeSubmission(farm, body) : undefined;
    case "invocations":
      return id === undefined
        ? fakeInvocations(farm, url.searchParams)
        : fakeInvocation(farm, id, rest[0], url.searchParams);
    case "target-history":
      return fakeTargetHistory(farm, url.searchParams.get("label") ?? "");
    case "executions":
      return answerExecution(farm, id ?? "", rest[0]);
    case "size-classes":
      return fakeSizeClasses(farm, id, url.searchParams, body);
    case "size-class-keys":
      return fakeSizeClassKeys(farm, id, url.searchParams);
    case "blobs":
      return rest[1] === "tree" ? fakeTree() : undefined;
    case "benchmarks":
      return answerBenchmarks(farm.lab, [id ?? "", ...rest], url.searchParams, body);
    case "granary":
      return fakeGranary(farm.granary, [id ?? "", ...rest], url.searchParams, body);
    case "store":
      return id === "contents" ? fakeStoreContents(new Date()) : fakeStore(farm.granary);
    case "actions":
      return fakeActionComparison(url.searchParams);
    case "caller":
      return fakeCaller();
    case "session":
      return madeUpSession;
    case "caches":
      return id === "use" ? fakeCacheUse(new Date(), url.searchParams) : fakeCaches(new Date());
    default:
      return undefined;
  }
}

/** Nobody is signed in, and everybody may do everything. */
export const madeUpSession: SessionStanding = {
  session: null,
  over: null,
  problem: null,
  csrf: null,
  provider: null,
  isOpen: true,
  access: "open",
};

function answerExecution(farm: FakeFarm, id: string, part: string | undefined): unknown {
  switch (part) {
    case "size-class":
      return fakeExecutionSizeClass(farm, id);
    case "failure":
      return fakeExecutionFailure(farm, fakeExecution(farm, id));
    case "comparison":
      return fakeComparison(fakeExecution(farm, id));
    case undefined:
    default:
      return fakeExecution(farm, id);
  }
}
