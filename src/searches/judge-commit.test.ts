import { expect, test } from "vitest";
import type { SearchedJob } from "#graphs/graphs-of-commits.store.ts";
import { judgeCommit } from "./judge-commit.ts";

const job = (more: Partial<SearchedJob> = {}): SearchedJob => ({
  name: "test",
  state: "succeeded",
  reason: null,
  outcomes: ["succeeded"],
  isCustomised: false,
  ...more,
});
const failed = job({ state: "failed", outcomes: ["failed"] });

test.each([
  { what: "all passed", jobs: [job(), job()], expected: "good" },
  { what: "one failed", jobs: [job(), failed], expected: "bad" },
  { what: "one timed out", jobs: [job({ outcomes: ["timed_out"] })], expected: "bad" },
  {
    what: "one runs",
    jobs: [job(), job({ state: "running", outcomes: [] })],
    expected: "under way",
  },
  { what: "one runs again", jobs: [job({ state: "ready" })], expected: "under way" },
  { what: "one failed already", jobs: [failed, job({ state: "running" })], expected: "bad" },
  {
    what: "it passed at last",
    jobs: [job({ outcomes: ["succeeded", "failed"] })],
    expected: "good",
  },
  {
    what: "one was customised, and the other passed",
    jobs: [job(), job({ isCustomised: true })],
    expected: "untestable",
  },
  {
    what: "one was customised, and failed",
    jobs: [job(), { ...failed, isCustomised: true }],
    expected: "untestable",
  },
  { what: "there are none", jobs: [], expected: "absent" },
])("of a commit of which $what: $expected", ({ jobs, expected }) => {
  expect(judgeCommit(jobs, 1).kind).toBe(expected);
});

test("a run that ended because of the farm is no result", () => {
  const lost = job({ state: "failed", outcomes: ["infrastructure_error"] });
  const skipped = job({
    state: "unreachable",
    outcomes: [],
    reason: "skipped because build failed",
  });

  expect(judgeCommit([lost], 1)).toEqual({
    kind: "untestable",
    why: "test ended as infrastructure_error",
  });
  expect(judgeCommit([job(), skipped], 1)).toEqual({
    kind: "untestable",
    why: "skipped because build failed",
  });
});

test("jobs that were not requested are listed for a request", () => {
  const asleep = job({ name: "slow", state: "inactive", outcomes: [] });

  expect(judgeCommit([job(), asleep], 1)).toEqual({ kind: "asleep", jobs: ["slow"] });
});

test("a flaky job needs several equal results, and the newest count", () => {
  const runs = (...outcomes: SearchedJob["outcomes"]) => judgeCommit([job({ outcomes })], 3);

  expect(runs("succeeded")).toEqual({ kind: "unsure", jobs: new Map([["test", 2]]) });
  expect(runs("failed", "succeeded")).toEqual({ kind: "unsure", jobs: new Map([["test", 2]]) });
  expect(runs("succeeded", "failed", "succeeded", "succeeded").kind).toBe("good");
  expect(runs("failed", "failed", "worker_lost", "failed", "succeeded").kind).toBe("bad");
});
