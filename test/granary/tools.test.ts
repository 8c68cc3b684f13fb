import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { InvocationList } from "#api/invocation.ts";
import { type GranaryLab, startGranaryLab } from "../../bench/show/granary/granary-lab.ts";
import { ccacheProject, sh } from "../../bench/show/granary/project.ts";
import { bazelNeed } from "../build-tools/bazel.ts";
import { fromNpm, nodeWorkspace } from "../build-tools/caches/node-workspace.ts";
import { ccacheProjectTools } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { allAhead, bazelCheckout, commitAll, indexesOf, newest } from "./tools.fixture.ts";

const minute = 60_000;

let lab: GranaryLab;
beforeAll(async () => {
  lab = await startGranaryLab({ roundTripMs: 20, workers: 1 });
}, minute);
afterAll(() => lab.stop());

describe("Bazel with grange exec", needs(bazelNeed), () => {
  test("a second machine has all results of a commit before they are requested, and one without the farm builds", async () => {
    const project = "bazel-ahead";
    const checkout = await bazelCheckout(lab, project);
    onTestFinished(() => checkout.remove());
    const first = await lab.startGranary();
    const one = checkout.machine(first);
    const cold = await one.build();
    await first.drained();
    expect(cold.how).not.toHaveProperty("remote cache hit");
    expect(await newest(lab, project)).toMatchObject({
      counts: { missed: cold.made, prefetched: 0, fetched: 0, local: 0, unreachable: 0 },
    });
    const commit = sh(checkout.path, "git rev-parse HEAD");
    const whole = { entries: cold.made, complete: true };
    expect(await indexesOf(lab, project)).toEqual({ [commit]: whole });

    const second = await lab.startGranary();
    const warm = await checkout.machine(second).build();
    await second.drained();
    expect(warm).toEqual({ ...cold, how: { "remote cache hit": cold.made } });
    const { indexes, counts, asked } = await newest(lab, project);
    expect(indexes).toEqual([{ source: "commit", commit, distance: 0, dropped: 0, ...whole }]);
    expect(counts).toMatchObject({ missed: 0, local: 0, unreachable: 0 });
    // A result that is executed faster than it is transferred may be left to the build.
    const late = asked.filter(({ source }) => source !== "prefetched");
    expect(late.filter(({ because }) => because !== "over-budget")).toEqual([]);
    expect(counts.prefetched).toBe(cold.made - late.length);
    expect(late.length).toBeLessThan(cold.made / 4);

    // Bazel's action keys contain the path of a system compiler.
    const elsewhere = await lab.startGranary();
    const other = await checkout.machine(elsewhere, { CFLAGS: "-DOTHER" }).build();
    await elsewhere.drained();
    expect(other).toEqual(cold);

    lab.line.cut("refused");
    onTestFinished(() => lab.line.mend());
    const third = await lab.startGranary();
    const alone = await checkout.machine(third).build();
    expect(alone).toEqual(cold);
    await third.stop();
    lab.line.mend();

    // In Bazel's own records most outputs are current: it requests only the leaf, and the commit has all results.
    const next = await checkout.commit(1);
    const leaf = await one.build();
    await first.drained();
    expect(leaf.made).toBeLessThan(cold.made / 2);
    expect((await indexesOf(lab, project))[next]).toEqual(whole);
    one.clean();
    const again = await one.build();
    await first.drained();
    expect(again).toEqual({ ...leaf, made: cold.made, how: { "remote cache hit": cold.made } });
    expect((await indexesOf(lab, project))[next]).toEqual(whole);
  });

  test("executes at the farm through its granary, which forwards Bazel's events of the build", async () => {
    const project = "bazel-remote";
    const checkout = await bazelCheckout(lab, project);
    onTestFinished(() => checkout.remove());
    const granary = await lab.startGranary();
    const { port } = z
      .object({ port: z.number() })
      .loose()
      .parse(await granary.status());
    const address = `grpc://127.0.0.1:${port}`;
    const machine = checkout.machine(granary);
    const flags = ["--config=farm", `--remote_executor=${address}`, `--bes_backend=${address}`];
    const run = await machine.build([...flags, `--project_id=${project}`]);
    await granary.drained();

    expect(run.how).toEqual({ remote: run.made });
    const answer = await fetch(`${lab.farm.url}/api/v1/invocations?project=${project}`);
    const { invocations } = InvocationList.parse(await answer.json());
    expect(invocations).toMatchObject([{ state: "succeeded", counts: { succeeded: run.made } }]);
    const commit = sh(checkout.path, "git rev-parse HEAD");
    const whole = { entries: run.made, complete: true };
    expect(await indexesOf(lab, project)).toEqual({ [commit]: whole });
  });
});

test("ccache has the results of an ancestor's index, and a dirty tree belongs to no commit", {
  ...needs(ccacheProjectTools),
}, async () => {
  const project = await ccacheProject(lab.work, 6);
  onTestFinished(() => project.close());
  const build = async () => {
    await project.clean();
    const granary = await lab.startGranary();
    const options = { cwd: project.path, env: project.env };
    const run = await granary.exec(project.command, {
      ...options,
      more: ["--project", "ccache", ...allAhead],
    });
    if (run.code !== 0) throw new Error(run.text);
    await granary.drained();
    await granary.stop();
    return newest(lab, "ccache");
  };
  const head = () => sh(project.path, "git rev-parse HEAD");
  const commits = async () => Object.keys(await indexesOf(lab, "ccache")).sort();
  const first = head();
  await build();

  await project.commit(1);
  const second = head();
  const after = await build();
  expect(after.indexes).toMatchObject([{ source: "ancestor", commit: first, distance: 1 }]);
  expect(after.counts.prefetched).toBeGreaterThan(0);
  expect(after.counts.missed).toBeLessThan(after.counts.prefetched);

  await writeFile(join(project.path, "src", "part0.cc"), "int part0(int n) { return n; }\n");
  const dirty = await build();
  expect(dirty.dirty).toBe(true);
  expect(dirty.indexes[0]).toMatchObject({ source: "commit", commit: second, distance: 0 });
  expect(await commits()).toEqual([first, second].sort());

  // After a rebase, the earlier commits of a branch are not ancestors of its present ones.
  sh(project.path, "git checkout -q -b topic");
  const abandoned = commitAll(project.path);
  await build();
  await writeFile(join(project.path, "src", "part1.cc"), "int part1(int n) { return n; }\n");
  commitAll(project.path, "--amend");
  const anew = await build();
  expect(anew.indexes.map(({ source, commit }) => ({ source, commit }))).toContainEqual({
    source: "branch",
    commit: abandoned,
  });
  await rm(join(project.path, "build"), { recursive: true, force: true });
});

test("a clone at another path that is built with -g gets an explanation for its cache misses", {
  ...needs(ccacheProjectTools),
}, async () => {
  const project = await ccacheProject(lab.work, 6);
  const clone = join(lab.work, "clone-elsewhere");
  onTestFinished(async () => {
    await project.close();
    await rm(clone, { recursive: true, force: true });
  });
  sh(project.path, "git remote add origin https://git.example/elsewhere.git");
  sh(lab.work, `git clone -q ${project.path} ${clone}`);
  sh(clone, "git remote set-url origin https://git.example/elsewhere.git");
  const build = async (cwd: string, named: string, flags: string) => {
    await rm(join(cwd, "build"), { recursive: true, force: true });
    const granary = await lab.startGranary();
    const more = ["--project", named, ...allAhead];
    const command = [...project.command.slice(0, -1), `CXX=ccache g++ ${flags}`];
    const { code, text } = await granary.exec(command, { cwd, env: project.env, more });
    if (code !== 0) throw new Error(text);
    await granary.drained();
    await granary.stop();
    const { counts } = await newest(lab, named);
    return { text, made: counts.missed, hits: counts.prefetched + counts.fetched };
  };

  const first = await build(project.path, "with-g", "-g");
  const second = await build(clone, "with-g", "-g");
  expect(first.text).not.toContain("other keys");
  expect(second).toMatchObject({ made: first.made, hits: 0 });
  expect(second.text).toContain(
    "under other keys: with -g or absolute paths, the keys of ccache contain the directory",
  );

  // The flags from docs/caches.md.
  const mapped = (cwd: string) => `-g -fdebug-prefix-map=${cwd}=.`;
  await build(project.path, "mapped", mapped(project.path));
  const third = await build(clone, "mapped", mapped(clone));
  expect(third).toMatchObject({ made: 0, hits: first.made });
  expect(third.text).not.toContain("other keys");
});

const turbo = fromNpm("turbo");

test.each([
  ["ccache's check of a size and a time", "mtime"],
  ["no check said", ""],
])(
  "compilers of one size and time on two machines: each gets its own results (%s)",
  {
    ...needs(ccacheProjectTools),
  },
  async (_, check) => {
    const project = await ccacheProject(lab.work, 4);
    onTestFinished(() => project.close());
    const compilers = await mkdtemp(join(lab.work, "compilers-"));
    onTestFinished(() => rm(compilers, { recursive: true }));
    const named = `compilers-${check}`;
    const machine = async (flag: string) => {
      await project.clean();
      // Images with one fixed date have them at one path on all machines.
      const file = join(compilers, "g++");
      await writeFile(file, `#!/bin/sh\nexec /usr/bin/g++ "$@" ${flag}\n`, { mode: 0o755 });
      await utimes(file, 315_532_800, 315_532_800);
      const granary = await lab.startGranary();
      const PATH = `${compilers}:${process.env["PATH"]}`;
      const env = { ...project.env, CCACHE_COMPILERCHECK: check, PATH };
      const more = ["--project", named, ...allAhead];
      const run = await granary.exec(project.command, { cwd: project.path, env, more });
      if (run.code !== 0) throw new Error(run.text);
      await granary.drained();
      await granary.stop();
      const { counts } = await newest(lab, named);
      return {
        hits: counts.prefetched + counts.fetched,
        made: counts.missed,
        text: project.product(),
      };
    };

    const one = await machine("-O2");
    const other = await machine("-O1");
    const again = await machine("-O2");

    expect(one.hits).toBe(0);
    expect(other).toMatchObject({ hits: 0, made: one.made });
    expect(other.text).not.toBe(one.text);
    expect(again).toMatchObject({ made: 0, text: one.text });
  },
);

test("Turborepo reports which commit it builds if the workspace does not", {
  ...needs(turbo.need),
}, async () => {
  const dir = join(lab.work, "turbo-workspace");
  await mkdir(dir);
  await nodeWorkspace(dir);
  const commit = sh(dir, "git rev-parse HEAD");
  const build = async () => {
    const granary = await lab.startGranary();
    const command = [turbo.path, "run", "build", `--cwd=${dir}`, "--cache=remote:rw"];
    const env = { TURBO_TELEMETRY_DISABLED: "1", NO_COLOR: "1", CI: "" };
    // Run outside of the checkout: Git finds no commit there.
    const options = { cwd: lab.work, env, more: ["--project", "turbo", ...allAhead] };
    const { code, text } = await granary.exec(command, options);
    if (code !== 0) throw new Error(text);
    await granary.drained();
    await granary.stop();
    return newest(lab, "turbo");
  };

  expect(await build()).toMatchObject({ commit, dirty: false, counts: { missed: 3 } });
  const indexed = { [commit]: { entries: 3, complete: true } };
  expect(await indexesOf(lab, "turbo")).toEqual(indexed);

  await writeFile(join(dir, "packages", "c", "src.txt"), "changed\n");
  expect(await build()).toMatchObject({ commit, dirty: true, counts: { missed: 1 } });
  expect(await indexesOf(lab, "turbo")).toEqual(indexed);
});
