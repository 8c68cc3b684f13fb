import { expect, test } from "vitest";
import type { TargetInBuild, TargetState } from "#api/invocation-targets.ts";
import { sumUpBuilds } from "./sum-up-builds.ts";

const build = (
  invocation: string,
  state: TargetState,
  changes: Partial<TargetInBuild> = {},
): TargetInBuild => ({
  invocation,
  state,
  commit: null,
  branch: null,
  at: "2030-01-01T00:00:00.000Z",
  success: null,
  testStatus: null,
  durationMs: 1_000,
  executed: 1,
  hits: 0,
  failed: 0,
  ...changes,
});

test("a target fails since the first failure after the last success", () => {
  const summary = sumUpBuilds([
    build("running", "running"),
    build("d", "failed"),
    build("skipped", "skipped"),
    build("c", "failed"),
    build("b", "flaky"),
    build("a", "failed"),
  ]);

  expect(summary).toMatchObject({ ended: 4, failed: 3, flaky: 1, failsSince: { invocation: "c" } });
});

test("a target that succeeded last fails since no build", () => {
  expect(sumUpBuilds([build("b", "succeeded"), build("a", "failed")]).failsSince).toBeUndefined();
  expect(sumUpBuilds([])).toMatchObject({ ended: 0, medianMs: undefined });
});

test("the median is that of builds that executed it", () => {
  const { medianMs } = sumUpBuilds([
    build("e", "failed", { durationMs: 90_000 }),
    build("d", "succeeded", { durationMs: 3_000 }),
    build("c", "succeeded", { durationMs: 2_000 }),
    build("b", "succeeded", { durationMs: 1_000 }),
    build("a", "succeeded", { durationMs: 0, executed: 0, hits: 3 }),
  ]);

  expect(medianMs).toBe(2_000);
});
