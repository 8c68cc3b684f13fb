import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type TestRepository, testRepository } from "#git/repository.fixture.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { type JobEnd, runJobs } from "./run-jobs.ts";

const scratch = mkdtempSync(join(tmpdir(), "grange-local-run-"));
const config = readWorkerConfig({ dataDir: join(scratch, "data"), homeDir: "/root" });
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function repositoryWith(
  jobs: string,
  files: Readonly<Record<string, string>> = {},
  more = "",
): TestRepository {
  const repository = testRepository(scratch);
  repository.write({ ".grange/farm.yml": `version: 1\n${more}jobs:\n${jobs}`, ...files });
  repository.commit("first");
  return repository;
}

/** Runs jobs and collects their output, and the outputs that were used from the checkout. */
async function run(
  { path }: TestRepository,
  jobs: readonly string[],
  options: Partial<Parameters<typeof runJobs>[0]> = {},
) {
  const printed = new Map<string, string>();
  const taken: string[] = [];
  const ends = await runJobs(
    {
      root: path,
      jobs,
      given: { parameters: {}, switches: {} },
      withNeeds: false,
      parallel: 2,
      config,
      signal: new AbortController().signal,
      ...options,
    },
    {
      taken: (job) => taken.push(job),
      started: () => {},
      printed: (job, bytes) =>
        printed.set(job, (printed.get(job) ?? "") + Buffer.from(bytes).toString()),
      ended: () => {},
    },
  );
  return { ends, printed, taken, order: [...ends.keys()] };
}

const outcomeOf = (end: JobEnd | undefined) =>
  end?.kind === "ran" ? (end.exitCode ?? "no exit code") : end?.kind;

test("a job gets what it declares as it is in the working tree, and nothing else", async () => {
  const repository = repositoryWith(
    `  a: {inputs: [src, run.sh], commands: "find . -type f | sort; cat src/changed; ./run.sh"}\n`,
    { "src/changed": "old\n", "src/removed": "x", "run.sh": "#!/bin/sh\necho ran\n", other: "x" },
  );
  repository.write({ "src/changed": "new\n", "src/untracked": "x", ".gitignore": "*.log" });
  repository.write({ "src/ignored.log": "x" });
  chmodSync(join(repository.path, "run.sh"), 0o755);
  rmSync(join(repository.path, "src/removed"));

  const { ends, printed } = await run(repository, ["a"]);

  expect(outcomeOf(ends.get("a"))).toBe(0);
  expect(printed.get("a")?.split("\n").slice(1)).toEqual([
    "./run.sh",
    "./src/changed",
    "./src/untracked",
    "new",
    "ran",
    "",
  ]);
});

test("an exit code and what was printed last are the job's own", async () => {
  const repository = repositoryWith(`  a: {inputs: [], commands: "echo last words; exit 7"}\n`);

  const { ends, printed } = await run(repository, ["a"]);

  expect(outcomeOf(ends.get("a"))).toBe(7);
  expect(printed.get("a")).toContain("last words");
});

const built = `  build: {inputs: [in], commands: "mkdir -p out/d; cat in > out/d/made; ln -s made out/d/link", outputs: [out]}
  use: {inputs: [], needs: [build], commands: "cat out/d/link; ls"}
`;

test("a job that is needed runs first, and its outputs are given on", async () => {
  const repository = repositoryWith(built, { in: "from in\n" });

  const { printed, order, taken } = await run(repository, ["use"]);

  expect(order).toEqual(["build", "use"]);
  expect(taken).toEqual([]);
  expect(printed.get("use")).toMatch(/from in\nout\n$/);
});

test("outputs that are in the checkout are taken from there, unless they are to be made anew", async () => {
  const repository = repositoryWith(built, { in: "from in\n", ".gitignore": "out" });
  repository.write({ "out/d/made": "from the checkout\n", "out/d/link": "->made" });

  const first = await run(repository, ["use"]);
  const anew = await run(repository, ["use"], { withNeeds: true });

  expect(first.order).toEqual(["use"]);
  expect(first.taken).toEqual(["build"]);
  expect(first.printed.get("use")).toContain("from the checkout\n");
  expect(anew.order).toEqual(["build", "use"]);
  expect(anew.printed.get("use")).toContain("from in\n");
});

test("a job is skipped when one that it needs fails, and runs when that is what it waits for", async () => {
  const repository = repositoryWith(
    `  bad: {inputs: [], commands: "exit 3", outputs: [x]}
  after: {inputs: [], needs: [bad], commands: echo}
  rescue: {inputs: [], needs: {bad: {on: failure, outputs: []}}, commands: echo}
`,
  );

  const { ends } = await run(repository, ["after", "rescue"]);

  expect(Object.fromEntries([...ends].map(([name, end]) => [name, outcomeOf(end)]))).toEqual({
    bad: 3,
    after: "skipped",
    rescue: 0,
  });
});

test("parameters are filled in as for a submission", async () => {
  const repository = repositoryWith(
    `  a: {inputs: [], commands: "echo level \${parameters.level} of \${commit.subject}"}\n`,
    {},
    "parameters:\n  level: {type: number}\n",
  );

  const given = { parameters: { level: 3 }, switches: {} };
  const { printed } = await run(repository, ["a"], { given });

  expect(printed.get("a")).toContain("\nlevel 3 of first\n");
  await expect(run(repository, ["a"])).rejects.toThrow("level");
});

test("inputs that another job finds are those of its list", async () => {
  const repository = repositoryWith(
    `  scan: {inputs: [], commands: "echo src/a > list", outputs: [list]}
  use: {inputs-from: {job: scan, output: list}, may-read: [src], commands: ls src}
`,
    { "src/a": "x", "src/b": "x" },
  );

  const { printed } = await run(repository, ["use"]);

  expect(printed.get("use")).toBe("$ ls src\na\n");
});

test.each([
  [
    "an unknown name",
    "  lint: {commands: x}\n",
    "lnt",
    'there is no job "lnt"; did you mean "lint"?',
  ],
  [
    "jobs in a circle",
    "  a: {commands: x, needs: [b]}\n  b: {commands: x, needs: [a]}\n",
    "a",
    "jobs wait for each other: a → b → a",
  ],
  [
    "a job that waits for a person",
    "  a: {kind: breakpoint}\n",
    "a",
    'is of the kind "breakpoint": only a farm can run it',
  ],
  [
    "a job whose `when` is false",
    "  a: {commands: x, when: false}\n  b: {commands: x}\n",
    "a",
    'job "a" is not in the graph',
  ],
  [
    "inputs that do not exist",
    "  a: {commands: x, inputs: [nowhere]}\n",
    "a",
    '"nowhere" is not in the commit',
  ],
])("refuses %s", async (_, jobs, name, message) => {
  await expect(run(repositoryWith(jobs), [name])).rejects.toThrow(message);
});

test("a run that is cancelled ends its job", async () => {
  const repository = repositoryWith(`  a: {inputs: [], commands: "echo begun; sleep 600"}\n`);
  const stop = new AbortController();
  let log = "";

  const ends = await runJobs(
    {
      root: repository.path,
      jobs: ["a"],
      given: { parameters: {}, switches: {} },
      withNeeds: false,
      parallel: 1,
      config: { ...config, killGraceMs: 100 },
      signal: stop.signal,
    },
    {
      taken: () => {},
      started: () => {},
      printed: (_, bytes) => {
        log += Buffer.from(bytes).toString();
        if (log.includes("\nbegun")) stop.abort();
      },
      ended: () => {},
    },
  );

  expect(ends.get("a")).toMatchObject({ kind: "ran", succeeded: false });
});
