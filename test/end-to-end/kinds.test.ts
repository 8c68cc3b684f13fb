import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm({ workers: 2 }),
    sampleRepository({ "README.md": "Kinds of job\n" }),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

const definitions = `version: 1
jobs:
  flaky: { kind: dummy, retries: 1, dummy: { outcomes: [failed, succeeded], after: 50ms } }
  pause: { kind: timer, after: 100ms, needs: [flaky] }
  sign-off: { kind: breakpoint, needs: [pause], message: look first }
  tests:
    kind: graph
    needs: [sign-off]
    inputs: []
    commands: |
      printf 'version: 1\\njobs: {inner: {commands: echo made by a job, inputs: []}}\\n' > tests.yml
    output: tests.yml
  shared:
    needs: [sign-off]
    inputs: []
    outputs: [reports]
    commands: |
      mkdir reports
      echo "$GRANGE_ITEMS" | while read -r item; do echo "did $item" > "reports/$item"; done
    chunks: { items: [a, b, c, d, e, f, g, h], min: 2, max: 2, budget: 10s }
  count:
    needs: [shared, tests]
    inputs: []
    commands: 'echo "$(ls reports | wc -l) reports"'
  tell: { kind: notify, needs: { count: { on: end } }, to: [https://hooks.example/x], message: over }
`;

test("a graph with a job of every kind runs to its end after an approval", async () => {
  const { id } = await farm.submit({
    repository: repository.path,
    definitions: { ".grange/farm.yml": definitions },
  });
  const stateOf = (graph: Awaited<ReturnType<Farm["graph"]>>, name: string) =>
    graph.jobList.find((job) => job.name === name)?.state;
  await farm.until(id, (graph) => stateOf(graph, "sign-off") === "waiting");
  const waiting = await farm.job(id, "shared");
  expect(waiting.job.state).toBe("blocked");

  const where = ["--server", farm.url];
  const released = await runGrange(["release", id, "sign-off", "--reason", "looks good", ...where]);

  expect(released.code).toBe(0);
  const over = await farm.untilOver(id);
  const states = Object.fromEntries(over.jobList.map(({ name, state }) => [name, state]));
  expect(states).toEqual({
    flaky: "succeeded",
    pause: "succeeded",
    "sign-off": "succeeded",
    tests: "succeeded",
    shared: "succeeded",
    count: "succeeded",
    tell: "succeeded",
  });
  expect((await farm.job(id, "flaky")).runList.map(({ outcome }) => outcome)).toEqual([
    "succeeded",
    "failed",
  ]);
  const { madeGraphs } = await farm.job(id, "tests");
  expect(await farm.graph(madeGraphs[0]?.graphId ?? "")).toMatchObject({
    state: "succeeded",
    set: id,
    parent: { id, kind: "subgraph", job: "tests" },
  });
  const { chunks } = await farm.job(id, "shared");
  expect(chunks).toMatchObject({ items: 8, done: 8, failed: 0 });
  // The distribution between the two is not fixed: one may still wait for the graph that 'tests'
  // made.
  for (const { worker } of chunks?.batches ?? []) expect(worker).toMatch(/^worker-[12]$/);
  const batch = await runGrange(["logs", id, "shared", "--batch", "1", ...where]);
  expect(batch.stdout).toContain("reports/");
  expect(await farm.log(id, "count")).toContain("8 reports");
  expect((await farm.job(id, "tell")).notifications).toMatchObject([{ state: "kept" }]);
});
