import { execFileSync } from "node:child_process";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startGranaryLab } from "../../bench/show/granary/granary-lab.ts";
import {
  rulesInLines,
  runScripted,
  type ScriptedOptions,
  writeScripted,
} from "../../bench/show/granary/scripted-build.ts";
import { commitAll, indexesOf, newest } from "./tools.fixture.ts";

const project = "scripted";

/** The documentation's build system: ten rules by themselves, and a line of five. */
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

test("a build system's hints fetch ahead without an index, and its approximations say a result at once", async () => {
  const { lab, path, commit, build, all } = await scene();
  const first = await build({ approximations: true });
  expect(first).toMatchObject({ made: all, hits: 0 });
  expect(await indexesOf(lab, project)).toEqual({ [commit]: { entries: all, complete: true } });

  const hinted = await build({ prefetch: false });
  expect(hinted).toMatchObject({ made: 0, hits: all, report: { indexes: [] } });
  expect(hinted.report.counts).toMatchObject({ missed: 0, unreachable: 0 });
  // The four that are asked for as they are announced are not there yet, and the line cannot be announced.
  expect(hinted.report.counts.prefetched).toBeGreaterThan(0);
  expect(hinted.report.bytes.wasted).toBe(0);

  const told = await build({ prefetch: false, hints: false, approximations: true });
  expect(told).toMatchObject({ made: 0, hits: all, atOnce: all });

  const indexed = await build({ hints: false });
  expect(indexed).toMatchObject({ made: 0, hits: all });
  expect(indexed.report.indexes).toMatchObject([{ source: "commit", commit, entries: all }]);

  // One leaf more, at a machine that has the rest: the commit's index names all of it.
  await appendFile(join(path, "src", "l3-0"), "changed\n");
  const next = commitAll(path);
  const changed = await build({}, first.data);
  expect(changed).toMatchObject({ made: 1, hits: all - 1 });
  expect(await indexesOf(lab, project)).toMatchObject({ [next]: { entries: all } });
});

test("a build system whose granary is gone builds alone", async () => {
  const { lab, path, all } = await scene();
  const nowhere = join(lab.work, "nowhere");
  const run = await runScripted(path, nowhere, { project });
  expect(run).toMatchObject({ made: all, hits: 0 });
  await rm(nowhere, { recursive: true, force: true });
});
