import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/**
 * Five jobs: two read one file each, one needs both, one fails after that, and one is skipped because of the failure.
 */
const definitions = `
version: 1
jobs:
  left:
    inputs: [left.txt]
    commands: tr a-z A-Z < left.txt > left.out
    outputs: [left.out]
  right:
    inputs: [right.txt]
    commands:
      - mkdir -p made
      - cp right.txt made/right.out
    outputs: [made]
  both:
    needs: [left, right]
    inputs: [join.sh]
    commands: sh join.sh
    outputs: [both.out]
  apart:
    inputs: [apart.txt]
    commands: cat apart.txt
`;

const files = {
  ".grange/farm.yml": definitions,
  "left.txt": "left\n",
  "right.txt": "right\n",
  "apart.txt": "apart\n",
  "join.sh": "cat left.out made/right.out > both.out\ncat both.out\n",
};

let farm: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  [farm, repository] = await Promise.all([startFarm({ workers: 2 }), sampleRepository(files)]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

/** Returns for each job of a graph `executed`, `hit`, or its state. */
async function howJobsEnded(id: string): Promise<Record<string, string>> {
  const graph = await farm.untilOver(id);
  return Object.fromEntries(
    graph.jobList.map((job) => [
      job.name,
      job.state !== "succeeded" ? job.state : job.cached ? "hit" : "executed",
    ]),
  );
}

describe("a commit", () => {
  test("becomes a graph that succeeds, and its outputs are passed along its edges", async () => {
    const { id } = await farm.submit({ repository: repository.path });

    expect(await howJobsEnded(id)).toEqual({
      left: "executed",
      right: "executed",
      both: "executed",
      apart: "executed",
    });
    expect(await farm.log(id, "both")).toContain("LEFT\nright\n");
    expect((await farm.job(id, "both")).runList).toMatchObject([
      { number: 1, cause: "first", outcome: "succeeded", exitCode: 0, attempt: 1 },
    ]);
    const output = await fetch(`${farm.url}/api/v1/graphs/${id}/jobs/both/runs/1/outputs/both.out`);
    expect(await output.text()).toBe("LEFT\nright\n");
    expect(output.headers.get("content-disposition")).toMatch(/^attachment/);
  });

  test("that is built again has only cache hits, and each names the run that made its result", async () => {
    const { id } = await farm.submit({ repository: repository.path });

    expect(await howJobsEnded(id)).toEqual({
      left: "hit",
      right: "hit",
      both: "hit",
      apart: "hit",
    });
    const [run] = (await farm.job(id, "left")).runList;
    expect(run?.cachedFrom).toMatchObject({ job: "left" });
    expect(await farm.log(id, "both")).toContain("LEFT\nright\n");
  });

  test("that changes one file runs only the job that reads it, and what depends on that", async () => {
    await repository.commit({ "left.txt": "changed\n" });

    const { id } = await farm.submit({ repository: repository.path });

    expect(await howJobsEnded(id)).toEqual({
      left: "executed",
      right: "hit",
      both: "executed",
      apart: "hit",
    });
  });

  test("whose change does not affect an output stops there", async () => {
    // The upper-case conversion removes the difference: `left` runs, its output is the same, `both`
    // is a hit.
    await repository.commit({ "left.txt": "CHANGED\n" });

    const { id } = await farm.submit({ repository: repository.path });

    expect(await howJobsEnded(id)).toMatchObject({ left: "executed", both: "hit" });
  });

  test("with a failing job fails, skips jobs that needed it, and never caches the failure", async () => {
    const rev = await repository.commit({ "join.sh": "echo no luck\nexit 3\n" }, "Break it");
    await repository.commit({
      ".grange/farm.yml": `${definitions}  after:\n    needs: [both]\n    commands: "true"\n`,
    });

    const first = await farm.submit({ repository: repository.path });
    expect(await howJobsEnded(first.id)).toMatchObject({ both: "failed", after: "unreachable" });
    const second = await farm.submit({ repository: repository.path });
    expect(await howJobsEnded(second.id)).toMatchObject({ left: "hit", both: "failed" });

    const graph = await farm.graph(second.id);
    expect(graph.state).toBe("failed");
    expect(graph.jobList.find((job) => job.name === "after")?.reason).toMatch(/both/);
    expect((await farm.job(second.id, "both")).runList[0]).toMatchObject({
      outcome: "failed",
      exitCode: 3,
    });
    expect(rev).toMatch(/^[0-9a-f]{40}$/);
  });
});
