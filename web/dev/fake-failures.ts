import type { GraphFailures } from "#api/failure-of-job.ts";
import type { Graph } from "#api/graph.ts";

/** What failed in a made-up graph: each failed job with the same log. */
export function fakeFailures({ id, commit, subject, createdAt, jobList }: Graph): GraphFailures {
  const here = { id, commit, subject, at: createdAt };
  const failed = jobList.filter(({ state }) => state === "failed");
  return {
    graph: id,
    failures: failed.slice(0, 20).map(({ name, runs }) => ({
      job: name,
      because: null,
      run: runs,
      outcome: "failed",
      exitCode: 1,
      message: null,
      executionId: null,
      lastPassed: null,
      firstFailed: here,
      graphsBetween: 0,
      flaky: false,
      log: {
        lines: [
          { text: `npm run ${name}`, isError: false },
          { text: "src/wake.ts(3,7): error TS2322: it did not work", isError: true },
        ],
        continues: false,
      },
    })),
    more: Math.max(0, failed.length - 20),
    skipped: jobList.filter(({ state }) => state === "unreachable").length,
  };
}
