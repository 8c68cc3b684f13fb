import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { InvocationList } from "#api/invocation.ts";
import {
  type Granary,
  type GranaryLab,
  startGranaryLab,
} from "../../bench/show/granary/granary-lab.ts";
import { ccacheProject, sh } from "../../bench/show/granary/project.ts";
import { timed } from "../../bench/show/granary/timed.ts";
import { bazelNeed } from "../build-tools/bazel.ts";
import { goEnvironment } from "../build-tools/caches/go.ts";
import { fromNpm, nodeWorkspace } from "../build-tools/caches/node-workspace.ts";
import { grange } from "../support/farm.ts";
import { goNeed } from "../support/needs/go-need.ts";
import { ccacheProjectTools } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { sampleRepository } from "../support/sample-repository.ts";
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
    const two = checkout.machine(second);
    const warm = await two.build();
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
    const other = await two.cleanWith(elsewhere, { CFLAGS: "-DOTHER" }).build();
    await elsewhere.drained();
    expect(other).toEqual(cold);

    lab.line.cut("refused");
    onTestFinished(() => lab.line.mend());
    const third = await lab.startGranary();
    const alone = await two.cleanWith(third).build();
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

test("Go compiles and tests nothing on a second machine, tells the granary of local hits, and needs neither", {
  ...needs(goNeed),
  timeout: 5 * minute,
}, async () => {
  const repository = await sampleRepository({
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "a/a.go": "package a\n\nfunc Value() int { return 1 }\n",
    "b/b.go": 'package b\n\nimport "example.com/m/a"\n\nfunc Value() int { return a.Value() }\n',
    "b/b_test.go":
      'package b\n\nimport "testing"\n\nfunc TestValue(t *testing.T) {\n\tif Value() != 1 {\n\t\tt.Fatal()\n\t}\n}\n',
  });
  onTestFinished(() => repository.remove());
  const cwd = repository.path;
  // Go keeps no index of a package whose files changed in the last two seconds: the second machine would miss it.
  sh(cwd, "find . -name '*.go' -exec touch -d 2024-01-01 {} +");
  const command = ["sh", "-c", "go build -v ./... && go test -vet=off ./b"];
  const own = join(lab.work, "go");
  const build = async (granary: Granary, data: string) => {
    const env = { ...goEnvironment(lab.work), GRANGE_GO_DATA: join(own, data) };
    const run = await granary.exec(command, { cwd, env, more: ["--project", "go"] });
    const compiled = run.text.match(/^example\.com\/\S+$/gm) ?? [];
    const [, test] = /^ok\s+example\.com\/m\/b\s+(\S+)/m.exec(run.text) ?? [];
    const warnings = run.text.split("\n").filter((line) => line.includes("gocacheprog:"));
    return { code: run.code, compiled, isCached: test === "(cached)", warnings };
  };
  const cached = { code: 0, compiled: [], isCached: true, warnings: [] };

  const first = await lab.startGranary();
  const cold = await build(first, "one");
  await first.drained();
  expect(cold).toEqual({
    code: 0,
    compiled: ["example.com/m/a", "example.com/m/b"],
    isCached: false,
    warnings: [],
  });
  const commit = sh(cwd, "git rev-parse HEAD");
  const whole = await indexesOf(lab, "go");
  expect(whole[commit]).toMatchObject({ complete: true });

  const second = await lab.startGranary();
  expect(await build(second, "two")).toEqual(cached);
  await second.drained();
  expect(await newest(lab, "go")).toMatchObject({ counts: { missed: 0, unreachable: 0 } });

  // All outputs are on the machine already: the next commit's index names them nevertheless.
  const next = await repository.commit({ "README.md": "text" });
  expect(await build(second, "two")).toEqual(cached);
  await second.drained();
  const { entries = 0, complete } = (await indexesOf(lab, "go"))[next] ?? {};
  expect(complete).toBe(true);
  expect(entries).toBeGreaterThan(100);

  // Its daemon is gone: the machine's own outputs are enough.
  await second.stop();
  const without = await timed(command, {
    cwd,
    env: {
      ...goEnvironment(lab.work),
      GOCACHEPROG: `${process.execPath} ${grange} gocacheprog`,
      GRANGE_GO_CACHE: "http://127.0.0.1:1/cache/go/gocache",
      GRANGE_GO_DATA: join(own, "two"),
    },
  });
  expect(without.code).toBe(0);
  expect(without.text).toMatch(/^ok\s+example\.com\/m\/b\s+\(cached\)$/m);
  expect(without.text.match(/gocacheprog: only the cache of this machine is used/g)).toHaveLength(
    2,
  );
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
