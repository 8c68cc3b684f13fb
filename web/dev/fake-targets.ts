import type { InvocationAction } from "#api/invocation.ts";
import {
  type InvocationTargets,
  type TargetHistory,
  TargetHistory as TargetHistoryShape,
  type TargetInBuild,
  type TargetState,
  InvocationTargets as Targets,
  type TestAttempts,
  TestAttempts as TestAttemptsShape,
} from "#api/invocation-targets.ts";
import type { FakeFarm } from "./fake-farm.ts";
import type { FakeInvocation } from "./made-up-invocations.ts";

const mostEarlier = 10;
const worstFirst: readonly TargetState[] = [
  "failed",
  "flaky",
  "running",
  "cancelled",
  "skipped",
  "succeeded",
];

interface TargetRow extends Omit<TargetInBuild, "invocation" | "commit" | "branch" | "at"> {
  readonly label: string;
  readonly kind: string;
  readonly aborted: string | null;
  readonly testActions: number;
}

/** The targets of a made-up build: those of its events, and those of its actions. */
function rowsOf({ actions, detail }: FakeInvocation): TargetRow[] {
  const reported = (detail.events?.targets ?? []).map((target): TargetRow => {
    const { aborted, durationMs, kind, label, success, testStatus } = target;
    const isFailed = success === false || testStatus === "FAILED";
    return {
      label,
      kind,
      aborted,
      state: isFailed ? "failed" : testStatus === "FLAKY" ? "flaky" : "succeeded",
      success,
      testStatus,
      durationMs,
      testActions: 0,
      ...countsOf(actions.filter((action) => action.target === label)),
    };
  });
  // A large build would have thousands.
  const named = [...new Set(actions.map(({ target }) => target))].slice(0, 60);
  const acted = named
    .filter((label) => label !== "" && reported.every((target) => target.label !== label))
    .map((label): TargetRow => {
      const own = actions.filter(({ target }) => target === label);
      return {
        label,
        kind: "",
        aborted: null,
        state: own.some(({ state }) => state === "failed")
          ? "failed"
          : own.some(({ state }) => state === "queued")
            ? "running"
            : "succeeded",
        success: null,
        testStatus: null,
        durationMs: own.some(({ executionId }) => executionId !== null) ? 1_240 : null,
        testActions: own.filter(({ mnemonic }) => mnemonic === "TestRunner").length,
        ...countsOf(own),
      };
    });
  return [...reported, ...acted].toSorted(
    (a, b) =>
      worstFirst.indexOf(a.state) - worstFirst.indexOf(b.state) || (a.label < b.label ? -1 : 1),
  );
}

function countsOf(actions: readonly InvocationAction[]) {
  const hits = actions.filter(({ state }) => state === "hit").length;
  const failed = actions.filter(({ state }) => state === "failed").length;
  return { hits, failed, executed: actions.length - hits };
}

export function fakeTargets(
  farm: FakeFarm,
  invocation: FakeInvocation,
  query: URLSearchParams,
): InvocationTargets {
  const text = (query.get("text") ?? "").toLowerCase();
  const rows = rowsOf(invocation).filter(({ label, kind }) =>
    `${label} ${kind}`.toLowerCase().includes(text),
  );
  const { project, startedAt } = invocation.detail;
  const earlier = farm.invocations
    .filter(({ detail }) => detail.project === project && detail.startedAt < startedAt)
    .toSorted((a, b) => b.detail.startedAt.localeCompare(a.detail.startedAt))
    .slice(0, mostEarlier);
  const from = Number(query.get("after") ?? 0);
  const limit = Number(query.get("limit") ?? 200);
  return Targets.parse({
    earlier: earlier.map(({ detail: { build, id, startedAt: at } }) => ({
      invocation: id,
      commit: build?.commit ?? null,
      branch: build?.branch ?? null,
      at,
    })),
    count: rows.length,
    targets: rows.slice(from, from + limit).map((row, nth) => ({
      ...row,
      aspect: "",
      // Not the real ones: they would all be equal.
      earlier: earlier.map((_, index) => earlierState(row, nth + index)),
    })),
    next: from + limit < rows.length ? String(from + limit) : null,
  });
}

function earlierState({ state }: Pick<TargetRow, "state">, n: number): TargetState | null {
  if (n % 9 === 5) return null;
  if (state === "flaky") return n % 3 === 0 ? "flaky" : "succeeded";
  return state === "failed" && n < 3 ? "failed" : "succeeded";
}

/** A target in all made-up builds that have it. */
export function fakeTargetHistory(farm: FakeFarm, label: string): TargetHistory {
  return TargetHistoryShape.parse({
    label,
    builds: farm.invocations.flatMap((invocation, n) => {
      const { build, id, startedAt: at } = invocation.detail;
      return rowsOf(invocation)
        .filter((row) => row.label === label)
        .map(({ durationMs, ...row }) => ({
          ...row,
          invocation: id,
          commit: build?.commit ?? null,
          branch: build?.branch ?? null,
          at,
          state: earlierState(row, n) ?? "skipped",
          durationMs: durationMs === null ? null : durationMs + ((n * 7) % 11) * 100,
        }));
    }),
  });
}

/** Attempts of two shards, one of which was repeated. */
export function fakeTests({ actions }: FakeInvocation, label: string): TestAttempts {
  const own = actions.filter(
    ({ mnemonic, target }) => target === label && mnemonic === "TestRunner",
  );
  return TestAttemptsShape.parse({
    label,
    unreadable: 0,
    isCut: false,
    attempts: own.flatMap((action) =>
      [1, 2].map((shard) => ({
        run: 1,
        shard,
        shards: 2,
        attempt: 1,
        configuration: action.configuration,
        state: action.state,
        outcome: action.outcome,
        exitCode: action.exitCode,
        executionId: action.executionId,
        worker: action.worker,
        startedAt: action.startedAt,
        durationMs: 900,
      })),
    ),
  });
}
