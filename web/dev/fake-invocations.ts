import { Caller } from "#api/access.ts";
import { BuildTiming as Timing } from "#api/build-timing.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import { ExecutionDetail as Execution } from "#api/execution.ts";
import { InvocationActions, InvocationDetail, InvocationList } from "#api/invocation.ts";
import { type InvocationMisses, InvocationMisses as Misses } from "#api/invocation-misses.ts";
import { buildTiming } from "#api/time-build.ts";
import { ToolCaches } from "#api/tool-cache.ts";
import { traceOfBuild } from "#api/trace-build.ts";
import { ChromeTrace as Trace } from "#api/trace-events.ts";
import { TreeListing } from "#api/tree-listing.ts";
import type { FakeFarm } from "./fake-farm.ts";
import { FakeRefusal } from "./fake-refusal.ts";
import { fakeTargets, fakeTests } from "./fake-targets.ts";
import { type FakeInvocation, madeUpExecution } from "./made-up-invocations.ts";

export function fakeInvocations(farm: FakeFarm, query: URLSearchParams): InvocationList {
  const project = query.get("project");
  const commit = query.get("commit");
  const all = farm.invocations
    .map(({ detail }) => detail)
    .filter((each) => project === null || each.project === project)
    .filter((each) => commit === null || each.build?.commit === commit)
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
  const from = all.findIndex(({ id }) => id === query.get("before")) + 1;
  const invocations = all.slice(from, from + Number(query.get("limit") ?? 50));
  const last = invocations.at(-1);
  return InvocationList.parse({
    invocations,
    next: last !== undefined && last !== all.at(-1) ? last.id : null,
  });
}

function invocationOf(farm: FakeFarm, id: string, query: URLSearchParams): FakeInvocation {
  const project = query.get("project") ?? "default";
  const found = farm.invocations.find(
    ({ detail }) => detail.id === id && detail.project === project,
  );
  if (found === undefined) throw new FakeRefusal(404, "not_found", `there is no invocation ${id}`);
  return found;
}

export function fakeInvocation(
  farm: FakeFarm,
  id: string,
  below: string | undefined,
  query: URLSearchParams,
): unknown {
  const found = invocationOf(farm, id, query);
  if (below === "actions") return actionsOf(found, query);
  if (below === "timing") return Timing.parse(buildTiming(found.actions, false));
  if (below === "trace") return Trace.parse(traceOfBuild(id, found.actions));
  if (below === "misses") return missesOf(found, query);
  if (below === "targets") return fakeTargets(farm, found, query);
  if (below === "tests") return fakeTests(found, query.get("label") ?? "");
  if (below === "cancel") {
    const counts = { ...found.detail.counts, queued: 0, executing: 0 };
    found.detail = { ...found.detail, counts, state: "cancelled", waiting: null };
  }
  return InvocationDetail.parse(found.detail);
}

function actionsOf({ actions }: FakeInvocation, query: URLSearchParams): InvocationActions {
  const state = query.get("state");
  const text = (query.get("text") ?? "").toLowerCase();
  const passing = actions.filter(
    (action) =>
      (state === null || action.state === state) &&
      (query.get("hits") !== "folded" || state !== null || action.state !== "hit") &&
      `${action.target} ${action.mnemonic}`.toLowerCase().includes(text),
  );
  const from = Number(query.get("after") ?? 0);
  const limit = Number(query.get("limit") ?? 200);
  return InvocationActions.parse({
    actions: passing.slice(from, from + limit),
    next: from + limit < passing.length ? String(from + limit) : null,
  });
}

/** Executed actions with made-up reasons, by turns. */
function missesOf({ detail, actions }: FakeInvocation, query: URLSearchParams): InvocationMisses {
  const executed = actions.filter(
    ({ state }) => state === "succeeded" || state === "failed" || state === "executing",
  );
  const from = Number(query.get("after") ?? 0);
  const limit = Number(query.get("limit") ?? 20);
  return Misses.parse({
    hits: detail.counts.hits,
    executed: detail.counts.succeeded + detail.counts.failed,
    misses: executed.slice(from, from + limit).map(({ executionId, mnemonic, target }, index) => ({
      executionId,
      mnemonic,
      target,
      before: index % 2 === 0 ? executionId : null,
      ...(index % 2 === 0
        ? {
            reason: "inputs",
            sentence: "1 input file differs.",
            paths: ["lib/store/store.cc"],
          }
        : {
            reason: "first",
            sentence: "The farm knows no earlier action that made these outputs for this target.",
            paths: [],
          }),
    })),
    next: from + limit < executed.length ? String(from + limit) : null,
  });
}

/** Returns the stored execution, or one derived from the action that it served. */
export function fakeExecution(farm: FakeFarm, id: string): ExecutionDetail {
  const kept = farm.executions.get(id);
  if (kept !== undefined) return Execution.parse(kept);
  for (const invocation of farm.invocations) {
    const action = invocation.actions.find(({ executionId }) => executionId === id);
    if (action !== undefined) return Execution.parse(madeUpExecution(invocation, action));
  }
  throw new FakeRefusal(404, "not_found", `there is no execution ${id}`);
}

export const fakeTree = (): TreeListing =>
  TreeListing.parse({
    count: 3,
    entries: [
      {
        kind: "file",
        path: "gen/a.h",
        blob: `${"a".repeat(64)}/120`,
        sizeBytes: 120,
        executable: false,
      },
      { kind: "symlink", path: "gen/b.h", target: "a.h" },
      { kind: "directory", path: "gen/empty" },
    ],
  });

export const fakeCaller = (): Caller =>
  Caller.parse({
    name: "anyone",
    grants: [{ verb: "*", repository: "*", branch: "*", priorityCap: null, top: true }],
  });

export const fakeCaches = (now: Date): ToolCaches =>
  ToolCaches.parse({
    caches: [
      {
        project: "default",
        tool: "ccache",
        entries: 4_120,
        bytes: 812_000_000,
        hits: 3_900,
        misses: 220,
        writes: 220,
        lastUsedAt: new Date(now.getTime() - 120_000).toISOString(),
      },
    ],
  });
