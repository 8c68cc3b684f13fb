import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { grangeJson, runGrange } from "../support/run-grange.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "grange-simulate-"));
});
afterAll(() => rm(folder, { recursive: true }));

const simulate = ["simulate", "size-classes"] as const;

describe("grange simulate size-classes", () => {
  test("compares strategies on a standard trace, and draws charts", async () => {
    const svg = join(folder, "flaky.svg");
    const args = [...simulate, "--trace", "flaky", "--strategy", "adr,grange,oracle"];

    const { code, stdout } = await runGrange([...args, "--seed", "7", "--svg", svg]);

    expect(code).toBe(0);
    for (const word of ["flaky", "seed 7", "adr", "grange", "oracle", "wrongly"])
      expect(stdout).toContain(word);
    expect(await readFile(svg, "utf8")).toMatch(/^<svg .*<\/svg>\n$/s);
  });

  test("reads a trace from a file, and repeats exactly the same output", async () => {
    const file = join(folder, "bursts.jsonl");
    const { stdout } = await runGrange(["trace", "standard", "bursts"]);
    await writeFile(file, stdout.split("\n").slice(0, 301).join("\n"));
    const args = [...simulate, "--trace", file, "--strategy", "grange,smallest"];

    const [once, again] = await Promise.all([grangeJson(args), grangeJson(args)]);

    expect(once).toEqual(again);
    expect(once).toMatchObject({
      trace: "bursts",
      executions: 300,
      strategies: [{ strategy: "grange" }, { strategy: "smallest" }],
    });
  });

  test("shows the number of executions for which the effect of more CPUs is unknown", async () => {
    const file = join(folder, "one-cpu.jsonl");
    const { stdout } = await runGrange(["trace", "standard", "flaky"]);
    const [header] = stdout.split("\n", 1);
    const work = '"keys":{"action":"a"},"serialMs":1000,"peakMemoryBytes":1000,"timeoutMs":60000';
    await writeFile(file, `${header}\n{"at":0,${work},"seenOnOneCpu":true}\n{"at":9,${work}}\n`);

    const told = await runGrange([...simulate, "--trace", file, "--strategy", "grange"]);

    expect(told.stdout).toContain("1 of them have been seen on only one CPU");
  });

  test.each([
    [["--trace", "nonesuch"], 1, 'no file "nonesuch", and no standard trace'],
    [
      ["--trace", "flaky", "--strategy", "best"],
      2,
      'no strategy "best"; the strategies are smallest',
    ],
    [["--trace", "flaky", "--seed", "-1"], 2, "whole number"],
    [["--trace", "flaky", "--price-of-delay", "lots"], 2, "number from 0"],
    [[], 2, "--trace"],
  ])("called with %j says what is wrong", async (args, code, said) => {
    const ended = await runGrange([...simulate, ...args]);

    expect(ended.stderr).toContain(said);
    expect(ended.code).toBe(code);
  });

  test("an error in a trace names its line and field", async () => {
    const file = join(folder, "wrong.jsonl");
    const { stdout } = await runGrange(["trace", "standard", "flaky"]);
    const [header] = stdout.split("\n", 1);
    await writeFile(file, `${header}\n{"at":0,"keys":{"action":"a"},"serialMs":-1}\n`);

    const { code, stderr } = await runGrange([...simulate, "--trace", file]);

    expect(stderr).toContain(`${file}: line 2, field serialMs: `);
    expect(code).toBe(1);
  });
});

test("grange trace list names the standard traces", async () => {
  expect(await grangeJson(["trace", "list"])).toEqual([
    "new-code-base",
    "steady-state",
    "code-change",
    "bursts",
    "memory-outliers",
    "flaky",
    "lost-workers",
  ]);
});
