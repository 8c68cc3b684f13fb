import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;
let library: SampleRepository;

beforeAll(async () => {
  [farm, repository, library] = await Promise.all([
    startFarm(),
    sampleRepository({ "README.md": "Plain jobs\n", "vendor/README.md": "Others' work\n" }),
    sampleRepository({ "lib/a.txt": "first\n", "lib/tool.sh": "echo from the library\n" }),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await Promise.all([repository.remove(), library.remove()]);
});

async function run(jobs: string) {
  const definitions = { ".grange/farm.yml": `version: 1\njobs:\n${jobs}` };
  const { id } = await farm.submit({ repository: repository.path, definitions });
  return farm.untilOver(id);
}

describe("a job that exits with 0", () => {
  const covered = (percent: string) => `
  test:
    inputs: []
    commands: |
      printf '\\033[31merror: one case was left out\\033[0m\\n'
      echo "coverage: ${percent}%"
    success:
      numbers: { coverage: { pattern: "^coverage: ([0-9.]+)%", min: 80 } }
    errors: "error:"
`;

  test("and reports too low a number has failed, with the number and the reason", async () => {
    const { id, state } = await run(covered("71.2"));

    expect(state).toBe("failed");
    const [failed] = (await farm.job(id, "test")).runList;
    expect(failed).toMatchObject({
      outcome: "failed",
      exitCode: 0,
      message: "coverage was 71.2, less than 80",
      numbers: { coverage: { value: 71.2, min: 80, max: null } },
    });
    // The line number is that of the log's page, after the two lines with the command.
    const log = (await farm.log(id, "test")).split("\n");
    const [error] = failed?.errorLines ?? [];
    expect(failed?.errorLines).toHaveLength(1);
    expect(error?.text).toBe("error: one case was left out");
    expect(log[(error?.line ?? 0) - 1]).toContain("error: one case was left out\u001b[0m");
    const status = await runGrange(["status", id, "--server", farm.url]);
    expect(status.stdout).toContain("test: coverage was 71.2, less than 80");
    const errors = await runGrange(["logs", id, "test", "--errors", "--server", farm.url]);
    expect(errors.stdout).toContain("error: one case was left out");
  });

  test("and fails is not cached, like all failed runs; with a sufficient number it is cached, with its numbers", async () => {
    const good = {
      outcome: "succeeded",
      message: null,
      numbers: { coverage: { value: 84.5, min: 80, max: null } },
      errorLines: [{ text: "error: one case was left out" }],
    };

    const again = await run(covered("71.2"));
    const first = await run(covered("84.5"));
    const second = await run(covered("84.5"));

    expect((await farm.job(again.id, "test")).runList).toMatchObject([{ cachedFrom: null }]);
    expect((await farm.job(first.id, "test")).runList).toMatchObject([
      { ...good, cachedFrom: null },
    ]);
    expect((await farm.job(second.id, "test")).runList).toMatchObject([
      { ...good, cachedFrom: { job: "test" } },
    ]);
  });
});

test("a failure is retried if its class allows it, and a job that waits for a class runs after it", async () => {
  const { id } = await run(`
  fetch:
    inputs: []
    commands: "echo read ECONNRESET; exit 1"
    retries: 2
    failure: { network: { patterns: ECONNRESET, retry: true } }
  build:
    inputs: []
    commands: "echo Segmentation fault; exit 139"
    retries: 2
    failure:
      crash: { patterns: ["Segmentation fault"] }
      network: { patterns: ECONNRESET, exit-codes: [75], retry: true }
  symbols: { inputs: [], commands: "true", needs: { build: { on: crash } } }
  wait: { inputs: [], commands: "true", needs: { build: { on: network } } }
`);

  const graph = await farm.graph(id);
  expect(
    Object.fromEntries(graph.jobList.map(({ name, state, runs }) => [name, [state, runs]])),
  ).toEqual({
    fetch: ["failed", 3],
    build: ["failed", 1],
    symbols: ["succeeded", 1],
    wait: ["unreachable", 0],
  });
  expect((await farm.job(id, "build")).runList).toMatchObject([
    { failureClass: "crash", exitCode: 139, message: 'crash: line 2 says "Segmentation fault"' },
  ]);
});

test("a hostile job cannot delay its worker with lines that make its patterns slow", async () => {
  const { id } = await run(`
  bomb:
    inputs: []
    commands: "head -c 3000000 /dev/urandom | od -An -v -tx1 -w2000 | tr 2468ace 1357bdf | tr 1357 aaaa | tr 9bdf0 bbbbb | tr -d ' '"
    timeout: 5m
    errors: "[ab]*a[ab]{200}$"
  other: { inputs: [], commands: echo here }
`);

  const graph = await farm.graph(id);
  const [bomb] = (await farm.job(id, "bomb")).runList;
  expect(graph.jobList.find(({ name }) => name === "other")?.state).toBe("succeeded");
  expect(bomb).toMatchObject({ outcome: "failed", attempt: 1 });
  expect(bomb?.message).toContain("its log could not be judged to the end");
});

test("files of other repositories are at their paths, with their content at the graph's creation", async () => {
  const jobs = `
  use:
    inputs: [vendor]
    commands: "cat vendor/README.md vendor/lib/lib/a.txt && sh tools/tool.sh && ls vendor/lib/lib"
    sources:
      - { repository: ${library.path}, rev: HEAD, at: vendor/lib, inputs: [lib/a.txt] }
      - { repository: ${library.path}, at: tools/all }
    needs: { make: { outputs: tool.sh, at: tools } }
  make: { inputs: [], commands: "echo 'sh tools/all/lib/tool.sh' > tool.sh", outputs: tool.sh }
`;
  const first = await run(jobs);
  await library.commit({ "lib/a.txt": "second\n" });
  const second = await run(jobs);

  expect(await farm.log(first.id, "use")).toMatch(
    /Others' work\nfirst\nfrom the library\na\.txt\n$/,
  );
  expect(await farm.log(second.id, "use")).toMatch(/Others' work\nsecond\n/);
});
