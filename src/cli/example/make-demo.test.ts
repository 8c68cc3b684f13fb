import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fillTemplates } from "#definitions/fill-templates.ts";
import { readTemplates } from "#definitions/read-templates.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { plan } from "#graphs/plan.ts";
import { readSuiteFile } from "#suites/read-suite.ts";
import { definitionTexts } from "../checkout.ts";
import { outputOf } from "../run-program.ts";
import { demoCommits } from "./demo-commits.ts";
import { findOrMakeDemo, makeDemo } from "./make-demo.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-demo-test-"));
const evaluator = new TemplateEvaluator();
afterAll(async () => {
  await evaluator.stop();
  await rm(dir, { recursive: true, force: true });
});

/**
 * Changes with every change of the demo project: then the pictures and the tour in docs/demo.md must be checked, too.
 */
const newestCommit = "8aa1c0e06cfb047cc56355507ef25a1cc543c178";

async function commitNothing(path: string, message: string): Promise<void> {
  const author = "-c user.name=A -c user.email=a@b.invalid".split(" ");
  await outputOf("git", [
    "-C",
    path,
    ...author,
    "commit",
    "--quiet",
    "--allow-empty",
    "-m",
    message,
  ]);
}

const made = await makeDemo(join(dir, "made"));

test("the demo project has the same commits wherever it is made", async () => {
  const again = await makeDemo(join(dir, "again"));

  expect(again.commits).toEqual(made.commits);
  expect(made.commits).toHaveLength(demoCommits.length);
  expect(made.commits.at(-1)).toBe(newestCommit);
  expect(await outputOf("git", ["-C", made.path, "status", "--porcelain"])).toBe("");
});

test("each commit has an author, a date and a message of its own", async () => {
  const log = await outputOf("git", ["-C", made.path, "log", "--reverse", "--format=%an|%cI|%s"]);

  expect(log.split("\n").slice(0, 2)).toEqual([
    "Ada Berg|2026-03-02T09:12:00+00:00|List the words of a text with their lines",
    "Ben Okoro|2026-03-03T14:40:00+00:00|Write JSON, too",
  ]);
});

test("a project that is there is found, with what was committed on top of it", async () => {
  const path = join(dir, "found");
  const first = await findOrMakeDemo(path);
  await commitNothing(path, "Mine");

  const second = await findOrMakeDemo(path);

  expect(second).toEqual(first);
  expect(await outputOf("git", ["-C", path, "log", "-1", "--format=%s"])).toBe("Mine\n");
});

test("a folder with something in it is refused, and nothing is left behind", async () => {
  const path = join(dir, "full");
  await mkdir(path);
  await writeFile(join(path, "mine.txt"), "");

  await expect(makeDemo(path)).rejects.toThrow(/not empty.*--out/);
  expect(await readdir(path)).toEqual(["mine.txt"]);
});

test("another repository in its place is refused by name", async () => {
  const path = join(dir, "other");
  await outputOf("git", ["init", "--quiet", "--initial-branch=main", path]);
  await commitNothing(path, "Other");

  await expect(findOrMakeDemo(path)).rejects.toThrow(/is not the demo project/);
});

test("a folder that cannot be written is named", async () => {
  const path = join(dir, "read-only");
  await mkdir(path);
  await chmod(path, 0o500);

  // Root can write to it in any case, but not to /proc.
  const folder = process.getuid?.() === 0 ? "/proc" : path;
  await expect(makeDemo(join(folder, "demo"))).rejects.toThrow(/cannot make the demo project in/);
});

test("a path below a file is named", async () => {
  await expect(makeDemo("/dev/null/demo")).rejects.toThrow(
    /cannot make the demo project in \/dev\/null\/demo/,
  );
});

describe("definitions", () => {
  async function jobsOf(commit: string, switches: Record<string, boolean>): Promise<string[]> {
    const texts = await definitionTexts(made.path, commit);
    const definitions = await fillTemplates(
      await readTemplates(texts),
      { parameters: {}, switches },
      {
        repository: "concordance",
        commit: { sha: commit, subject: "", author: "", committedAt: new Date(0) },
        rev: "main",
        branch: "main",
      },
      evaluator,
    );
    return (await plan(definitions)).catalog.entries.map(({ name }) => name);
  }

  test("of each commit are valid, with and without a compiler and a release", async () => {
    for (const commit of made.commits) {
      for (const cc of [true, false]) {
        for (const release of [true, false]) {
          expect((await jobsOf(commit, { cc, release })).length).toBeGreaterThan(10);
        }
      }
    }
  });

  test("leave out the C library where there is no compiler, and say so in a job", async () => {
    const newest = made.commits.at(-1) ?? "";

    const without = await jobsOf(newest, { cc: false });
    const withCompiler = await jobsOf(newest, { cc: true });

    expect(without.filter((name) => name.startsWith("c/"))).toEqual(["c/left-out"]);
    expect(withCompiler.filter((name) => name.startsWith("c/")).toSorted()).toEqual([
      "c/build/debug",
      "c/build/release",
      "c/same-answer",
      "c/test/debug",
      "c/test/release",
    ]);
  });

  test("ask for no network: the demo works without", async () => {
    for (const commit of made.commits) {
      const texts = [...(await definitionTexts(made.path, commit)).values()].join("\n");
      expect(texts).not.toMatch(/network: true/);
    }
  });

  test("of the benchmarks are valid", async () => {
    const file = join(made.path, ".grange/bench/concordance.yml");

    expect(existsSync(file)).toBe(true);
    expect((await readSuiteFile(file)).headline).toBe("probes");
    expect(await readFile(file, "utf8")).not.toContain("instructions");
  });
});
