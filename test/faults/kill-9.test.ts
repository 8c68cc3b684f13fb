import { expect, test } from "vitest";
import { killWhileRunning, victims } from "./kill-while-running.ts";

const rounds = 3;

test.concurrent.each(victims)(
  `after kill -9 of the %s during a job, ${rounds} times, each graph succeeds with one published result`,
  async (victim) => {
    const after = await killWhileRunning(victim, rounds);

    expect(after.map(({ graph }) => graph.state)).toEqual(after.map(() => "succeeded"));
    for (const { run, log, graph } of after) {
      expect(run).toMatchObject({ number: 1, cause: "first", outcome: "succeeded", exitCode: 0 });
      // One complete execution, with one start and one end.
      expect(log.match(/^begin/gm)).toHaveLength(1);
      expect(log.match(/^end/gm)).toHaveLength(1);
      expect(graph.jobList.map((job) => job.state)).toEqual([
        "succeeded",
        "succeeded",
        "succeeded",
      ]);
    }
  },
);
