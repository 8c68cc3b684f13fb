import { expect, test } from "vitest";
import type { JobDetail } from "#api/graph.ts";
import { failureLines } from "./failure-lines.ts";

const runs: Record<
  string,
  { readonly failureClass: string | null; readonly message: string | null }
> = {
  low: { failureClass: null, message: "coverage was 71.2, less than 80" },
  crashed: { failureClass: "crash", message: 'crash: line 4 says "\u001b[2JSegmentation fault"' },
  slow: { failureClass: "hang", message: "it ran longer than 5 s" },
  silent: { failureClass: null, message: null },
  fine: { failureClass: null, message: null },
};

test("each failed job says why, as far as its latest run tells, and nothing that steers a terminal", async () => {
  const jobList = Object.keys(runs).map((name) => ({
    name,
    state: name === "fine" ? "succeeded" : "failed",
  }));
  const api = {
    job: async (_: string, name: string) =>
      ({
        job: { name },
        runList: [
          { state: "finished", ...runs[name] },
          { state: "finished", failureClass: "old", message: "an earlier run failed" },
        ],
      }) as unknown as JobDetail,
  };

  const lines = await failureLines(api, { id: "g", jobList } as Parameters<typeof failureLines>[1]);

  expect(lines).toEqual([
    "low: coverage was 71.2, less than 80",
    'crashed: crash: line 4 says "Segmentation fault"',
    "slow: hang: it ran longer than 5 s",
  ]);
});
