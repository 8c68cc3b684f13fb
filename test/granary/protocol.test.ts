import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startGranaryLab } from "../../bench/show/granary/granary-lab.ts";
import {
  rulesInLines,
  runScripted,
  type ScriptedOptions,
  writeScripted,
} from "../../bench/show/granary/scripted-build.ts";
import { granaryClient } from "./granary-client.ts";
import { commitAll, indexesOf, newest } from "./tools.fixture.ts";

const project = "scripted";

/** The build system of the documentation: ten independent rules, and a chain of five. */
async function scene() {
  const lab = await startGranaryLab({ roundTripMs: 20 });
  onTestFinished(() => lab.stop());
  const path = join(lab.work, "checkout");
  const line = Object.entries(rulesInLines(1, 5, 5)).map(([name, rule]) => [
    `line-${name}`,
    { ...rule, deps: rule.deps.map((dep) => `line-${dep}`) },
  ]);
  const rules = { ...rulesInLines(10, 1, 5), ...Object.fromEntries(line) };
  await writeScripted(path, rules);
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: path });
  const commit = commitAll(path);
  const build = async (options: Omit<ScriptedOptions, "project"> = {}, data?: string) => {
    const granary = await lab.startGranary(data === undefined ? {} : { data });
    const run = await runScripted(path, granary.data, { project, ...options });
    const { wallMs: _, cpuMs: __, ...counts } = run;
    await granary.drained();
    await granary.stop();
    return { ...counts, data: granary.data, report: await newest(lab, project) };
  };
  return { lab, path, commit, build, all: Object.keys(rules).length };
}

test("hints of a build system prefetch without an index, and its approximate keys give results at once", async () => {
  const { lab, path, commit, build, all } = await scene();
  const first = await build({ approximations: true });
  expect(first).toMatchObject({ made: all, hits: 0 });
  expect(await indexesOf(lab, project)).toEqual({ [commit]: { entries: all, complete: true } });

  const hinted = await build({ prefetch: false });
  expect(hinted).toMatchObject({ made: 0, hits: all, report: { indexes: [] } });
  expect(hinted.report.counts).toMatchObject({ missed: 0, unreachable: 0 });
  // The four rules that are requested when they are announced are not available yet, and the chain cannot be announced.
  expect(hinted.report.counts.prefetched).toBeGreaterThan(0);
  expect(hinted.report.bytes.wasted).toBe(0);

  const told = await build({ prefetch: false, hints: false, approximations: true });
  expect(told).toMatchObject({ made: 0, hits: all, atOnce: all });

  const indexed = await build({ hints: false });
  expect(indexed).toMatchObject({ made: 0, hits: all });
  expect(indexed.report.indexes).toMatchObject([{ source: "commit", commit, entries: all }]);

  // One more leaf, on a machine that has the rest: the commit's index lists all results.
  await appendFile(join(path, "src", "l3-0"), "changed\n");
  const next = commitAll(path);
  const changed = await build({}, first.data);
  expect(changed).toMatchObject({ made: 1, hits: all - 1 });
  expect(await indexesOf(lab, project)).toMatchObject({ [next]: { entries: all } });
});

test("a result is indexed under the commit of the nested repository that it belongs to, and fetched with that commit", async () => {
  const { lab, path, commit } = await scene();
  const nested = join(path, "out", "lib");
  mkdirSync(nested, { recursive: true });
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: nested });
  await writeFile(join(nested, "a.c"), "int a;\n");
  const innerCommit = commitAll(nested);
  const repositories = [{ root: path }, { root: nested }];
  const output = [{ path: "a", file: join(nested, "a.c") }];

  const maker = await lab.startGranary({});
  const made = await granaryClient(maker.data);
  await made.ask({ type: "build-started", project, repositories, environment: "e" });
  await made.ask({ type: "result", key: "outer", outputs: output, costMs: 1_000 });
  await made.ask({ type: "result", key: "inner", outputs: output, costMs: 1_000, repository: 1 });
  await made.ask({ type: "build-ended", exitCode: 0, complete: true, sync: true });
  made.close();
  await maker.stop();

  expect(await indexesOf(lab, project)).toEqual({
    [commit]: { entries: 2, complete: true },
    [innerCommit]: { entries: 1, complete: true },
  });

  // Another machine builds another repository that contains the same nested one.
  const other = join(lab.work, "other");
  mkdirSync(other);
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: other });
  await writeFile(join(other, "b.c"), "int b;\n");
  commitAll(other);
  const user = await lab.startGranary({});
  const used = await granaryClient(user.data);
  const waitMs = 20_000;
  const started = { type: "build-started", project, environment: "e", waitMs };
  const those = [{ root: other }, { root: nested }];
  expect(await used.ask({ ...started, repositories: those })).toMatchObject({ ready: true });
  const found = await used.ask({ type: "look-up", key: "inner", repository: 1 });
  await used.ask({ type: "build-ended", exitCode: 0, complete: true, sync: true });
  used.close();
  await user.stop();

  expect(found).toMatchObject({ type: "found", key: "inner" });
  const report = await newest(lab, project);
  expect(report.counts).toMatchObject({ prefetched: 1, missed: 0, fetched: 0 });
  expect(report.indexes).toMatchObject([{ source: "commit", commit: innerCommit, entries: 1 }]);
});

test("a build system whose granary has ended builds alone", async () => {
  const { lab, path, all } = await scene();
  const nowhere = join(lab.work, "nowhere");
  const run = await runScripted(path, nowhere, { project });
  expect(run).toMatchObject({ made: all, hits: 0 });
  await rm(nowhere, { recursive: true, force: true });
});
