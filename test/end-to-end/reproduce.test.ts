import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { runProgram } from "../support/process.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;
let directory: string;
let graph: string;

beforeAll(async () => {
  [farm, repository, directory] = await Promise.all([
    startFarm(),
    sampleRepository({
      ".grange/farm.yml": `version: 1
jobs:
  same: { inputs: [src], outputs: [out], commands: "mkdir out && cp src/a.txt out/b.txt && echo it-is-$WORD", environment: { WORD: "a b" } }
  random: { inputs: [], outputs: [id], commands: "cat /proc/sys/kernel/random/uuid > id" }
  broken: { inputs: [src], commands: "echo no >&2; exit 4" }
`,
      "src/a.txt": "text\n",
    }),
    mkdtemp(join(tmpdir(), "grange-reproduce-")),
  ]);
  graph = (await farm.submit({ repository: repository.path })).id;
  await farm.untilOver(graph);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
  await rm(directory, { recursive: true });
});

async function executionOf(job: string): Promise<string> {
  const { runList } = await farm.job(graph, job);
  return runList[0]?.executionId ?? "";
}

const reproduce = async (job: string, ...args: string[]) =>
  runGrange(["reproduce", await executionOf(job), "--server", farm.url, ...args], {
    cwd: directory,
  });

test("an action gives the same outputs here, in a new directory", async () => {
  const into = join(directory, "same");

  const { code, stdout, stderr } = await reproduce("same", "--into", into);

  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^exit 0 after .*, 1 outputs\nThe result is the same as on the farm\.\n$/);
  expect(stderr).toContain("it-is-a b");
  expect((await readdir(into)).toSorted()).toEqual(["command.json", "inputs", "outputs", "run.sh"]);
  expect(await readFile(join(into, "inputs/src/a.txt"), "utf8")).toBe("text\n");
});

test("outputs and exit codes that differ are named", async () => {
  const { code, stdout } = await reproduce("random", "--into", "random", "--json");

  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    exitCode: 0,
    differences: [expect.stringMatching(/^id: file \S+ on the farm, file \S+ here$/)],
  });
  expect(await readFile(join(directory, "random/outputs/id"), "utf8")).toMatch(/^[0-9a-f-]{36}\n$/);
});

test("a failure is the same here, which is a success of the comparison", async () => {
  expect(await reproduce("broken", "--into", "broken")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("exit 4 after"),
  });
});

test("without a run, a script says how to run it", async () => {
  const { stdout } = await reproduce("same", "--into", "by-hand", "--no-run");

  const ran = await runProgram("/bin/sh", [join(directory, "by-hand/run.sh")]);

  expect(stdout).toContain("by-hand/run.sh");
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("it-is-a b\n") });
  expect(await readFile(join(directory, "by-hand/inputs/out/b.txt"), "utf8")).toBe("text\n");
});

test("a directory that exists, and an unknown execution, are refused with what to do", async () => {
  const exists = await reproduce("same", "--into", directory);
  const unknown = await runGrange([
    "reproduce",
    "0f6a9d0b-0000-4000-8000-000000000000",
    "--server",
    farm.url,
  ]);

  expect(exists).toMatchObject({ code: 1, stderr: expect.stringContaining("--into") });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("error:") });
});
