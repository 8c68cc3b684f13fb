import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Run } from "#api/graph.ts";
import {
  commitAside,
  definitionsOf,
  type Fork,
  type ForkCase,
  forge,
  fresh,
  outputOf,
  outsiders,
  random,
  root,
} from "./fork-target.ts";

/** Checks that main runs a job again that a pull request ran, and has its own result. */
async function runsAnew({ onMain, run }: Fork, jobs: object, first: Run): Promise<void> {
  const own = await run(await onMain(jobs));
  assert.equal(own.outcome, "succeeded", own.message ?? "");
  assert.equal(own.cachedFrom, null);
  assert.notEqual(own.executionId, null);
  assert.notEqual(own.executionId, first.executionId);
  assert.notEqual(outputOf(own), outputOf(first));
  // This run is a hit, so the action can be cached: main did not use the pull request's result.
  const again = await run(await onMain(jobs));
  assert.notEqual(again.cachedFrom, null);
  assert.equal(outputOf(again), outputOf(own));
}

/** Attempts to write data that main or others read. */
export const forkPoisons: readonly ForkCase[] = [
  {
    name: "runs first what main will run, to have made its result",
    async run(fork) {
      const jobs = fresh(random);
      await runsAnew(fork, jobs, await fork.run(await fork.onPull(jobs)));
    },
  },
  {
    name: "is running what main asks for, so that main joins it",
    async run(fork) {
      const jobs = fresh(["sleep 1", random]);
      const graph = await fork.onPull(jobs);
      await fork.farm.untilLogged(graph, "a", "sleep");
      const [own, theirs] = [await fork.run(await fork.onMain(jobs)), await fork.run(graph)];
      assert.notEqual(own.executionId, theirs.executionId);
      assert.notEqual(outputOf(own), outputOf(theirs));
    },
  },
  {
    name: "is merged: its commit runs again on main, no result is reused",
    async run(fork) {
      const jobs = fresh(random, { inputs: ["source.txt"] });
      await runsAnew(fork, jobs, await fork.run(await fork.onPull(jobs)));
    },
  },
  {
    name: "makes a result for another pull request",
    async run(fork) {
      const jobs = fresh(random);
      const first = await fork.run(await fork.onPull(jobs, { pull: 7 }));
      const second = await fork.run(await fork.onPull(jobs, { pull: 8 }));
      assert.equal(second.cachedFrom, null);
      assert.notEqual(outputOf(second), outputOf(first));
    },
  },
  {
    name: "runs an action of main again: main keeps its own result",
    async run(fork) {
      const jobs = fresh(random);
      const own = await fork.run(await fork.onMain(jobs));
      const taken = await fork.run(await fork.onPull(jobs));
      assert.equal(outputOf(taken), outputOf(own));
      const again = await fork.run(await fork.onMain(jobs));
      assert.equal(outputOf(again), outputOf(own));
    },
  },
  {
    name: "poisons the key that is predicted of the next commit: by inputs that another job finds",
    async run(fork) {
      const id = randomUUID();
      const jobs = {
        finder: { commands: `echo source.txt > list; echo ${id}`, inputs: [], outputs: ["list"] },
        a: {
          commands: random,
          outputs: ["out"],
          environment: { CASE: id },
          inputs: [],
          "inputs-from": { job: "finder", output: "list" },
          "may-read": ["source.txt"],
          needs: ["finder"],
        },
      };
      await runsAnew(fork, jobs, await fork.run(await fork.onPull(jobs)));
    },
  },
  {
    name: "makes what another of its jobs takes, which main has, too",
    async run(fork) {
      const id = { environment: { CASE: randomUUID() }, inputs: [] };
      const jobs = {
        lib: { ...id, commands: "cat /proc/sys/kernel/random/uuid > lib", outputs: ["lib"] },
        a: { ...id, commands: "cp lib out", outputs: ["out"], needs: ["lib"] },
      };
      await runsAnew(fork, jobs, await fork.run(await fork.onPull(jobs)));
    },
  },
  {
    name: "is called main: the branch's definitions stay what they are",
    async run({ farm, repository, run }) {
      const path = repository.path;
      const own = await farm.submit({ repository: path, branch: "main" }, {}, root);
      await run(own, "own");
      const { repository: name } = (await farm.job(own, "own")).graph;
      const branch = async () =>
        (await farm.ask(`/repositories/${encodeURIComponent(name)}/branches/main`)).text();
      const before = await branch();
      const theirs = await commitAside(repository, definitionsOf("theirs"));
      const graph = await farm.submit(
        { repository: path, branch: "main", rev: theirs },
        { ref: "refs/pull/9/head", outsiders },
        forge,
      );
      assert.equal((await run(graph, "theirs")).outcome, "succeeded");
      assert.match(before, /main/);
      assert.equal(await branch(), before);
    },
  },
  {
    name: "writes, as its author, the result of main's next action into the caches of tools",
    async run(fork) {
      const jobs = fresh(random);
      const made = await fork.run(await fork.onPull(jobs));
      const hash = made.actionDigest.split("/")[0];
      const at = `${fork.farm.url}/cache/default/bazel/ac/${hash}`;
      // A result with exit code 0 and nothing else: it is valid, and means that there are no
      // outputs.
      const body = new Uint8Array([0x20, 0x00]);
      for (const headers of [fork.mallory, {}]) await fetch(at, { method: "PUT", headers, body });
      assert.equal((await fetch(at)).status, 404);
      await runsAnew(fork, jobs, made);
    },
  },
  {
    name: "writes, as its author, entries that the compilers of main will ask for",
    async run({ farm, mallory }) {
      for (const path of [
        "ccache/ab/cdef0123456789",
        "sccache/a/b/c/abc0123",
        "turborepo/v8/artifacts/ab01",
      ]) {
        const at = `${farm.url}/cache/default/${path}`;
        for (const headers of [mallory, {}]) {
          const { status } = await fetch(at, { method: "PUT", headers, body: "poison" });
          assert(status >= 400, `${path} answered ${status}`);
        }
        assert((await fetch(at)).status >= 400);
      }
    },
  },
  {
    name: "asks for provenance of what it made",
    async run({ farm, onPull, run }) {
      const made = await run(await onPull(fresh(random)));
      const path = `/provenance?digest=${encodeURIComponent(outputOf(made))}`;
      assert.equal((await farm.ask(path)).status, 404);
    },
  },
];
