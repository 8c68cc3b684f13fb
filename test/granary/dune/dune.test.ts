import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { digestKey } from "#core/digest.ts";
import { needs } from "../../support/needs/needs.ts";
import {
  buildThrough,
  commitAll,
  type DuneMachine,
  dune,
  duneMachine,
  duneTwo,
  run,
  type ToyFarm,
  toyFarm,
} from "./dune-machine.ts";
import { lie } from "./lie.ts";
import { changeLeaf, smallToy, writeToyProject } from "./toy-project.ts";

describe("a real dune 2", { ...needs(duneTwo) }, () => {
  let work: string;
  let machine: DuneMachine;
  let root: string;
  let serial = 0;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "grange-toys-"));
  });
  afterAll(() => rm(work, { recursive: true, force: true }));
  beforeEach(async () => {
    root = join(work, `toy${serial++}`);
    await writeToyProject(root, smallToy);
    await commitAll(root);
    machine = await duneMachine();
    return () => machine.remove();
  });

  const clean = () => rm(join(root, "_build"), { recursive: true, force: true });

  /** Publishes what a build on this machine asks for. */
  async function published(on = machine): Promise<ToyFarm> {
    const farm = toyFarm();
    const first = await buildThrough(on, root);
    expect(first.ran.code).toBe(0);
    await on.publish(first.build, farm);
    return farm;
  }

  describe("and results of others:", () => {
    test("a build on a machine that has nothing runs nothing", async () => {
      const farm = await published();
      await clean();
      const fresh = await duneMachine();
      try {
        const second = await buildThrough(fresh, root, { farm, preparedMs: 10_000 });

        expect(second.ran.code).toBe(0);
        expect(second.executed).toBe(0);
        expect(second.tally).toMatchObject({ given: farm.results.size, made: 0, learnt: 0 });
        expect([...second.build.asked.values()].every((one) => one.source === "prefetched")).toBe(
          true,
        );
      } finally {
        await fresh.remove();
      }
    });

    test("nobody knows what a rule took: taken for free, it would not be worth fetching", async () => {
      const farm = await published();

      expect([...farm.results.values()].every(({ costMs }) => costMs === undefined)).toBe(true);
    });

    test("a commit that changes a leaf asks for all rules, not only for those that ran", async () => {
      const farm = await published();
      await changeLeaf(root, smallToy, 1);
      await clean();

      const second = await buildThrough(machine, root);

      expect(second.tally.made).toBeGreaterThan(0);
      expect(second.tally.made).toBeLessThan(farm.results.size / 2);
      expect(second.build.asked.size).toBe(farm.results.size);
    });

    test("a build in which nothing is to be done asks for all that it is made of", async () => {
      const farm = await published();

      const second = await buildThrough(machine, root);

      expect(second.tally).toMatchObject({ made: 0, used: farm.results.size });
      expect(new Set(second.build.asked.keys())).toEqual(new Set(farm.results.keys()));
    });

    test("what dune had before there was a granary is learnt from its store", async () => {
      await dune(root, {
        ...machine.variables,
        DUNE_CACHE: "enabled",
        DUNE_CACHE_TRANSPORT: "direct",
      });
      await clean();

      const { tally, build } = await buildThrough(machine, root);

      // Also those that dune made a moment before the granary joined it.
      expect(tally.made).toBe(0);
      expect(tally.learnt).toBe(tally.used);
      expect(tally.used).toBeGreaterThan(20);
      expect(build.made.size).toBe(build.asked.size);
    });

    test("rules of a module that is gone are no longer asked for", async () => {
      const farm = await published();
      await writeFile(join(root, "lib0/extra.ml"), "let x = 1\n");
      await buildThrough(machine, root);
      await rm(join(root, "lib0/extra.ml"));

      const { build } = await buildThrough(machine, root);

      expect(new Set(build.asked.keys())).toEqual(new Set(farm.results.keys()));
    });

    test("files that are not what their digest says are refused, and dune makes them itself", async () => {
      const farm = await published();
      const largest = [...farm.blobs.entries()].sort((a, b) => b[1].length - a[1].length);
      const poisoned = new Set<string>();
      for (const [key] of largest.slice(0, 5)) poisoned.add(key);
      // A liar names its own bytes rightly, as a blob; only dune's name of them gives it away.
      for (const [name, result] of farm.results) {
        if (!result.blobs.some((blob) => poisoned.has(digestKey(blob)))) continue;
        farm.results.set(name, { ...result, ...(await lie(result, farm)) });
      }
      await clean();
      const fresh = await duneMachine();
      try {
        const second = await buildThrough(fresh, root, { farm, preparedMs: 10_000 });

        expect(second.ran.code).toBe(0);
        expect(second.tally.refused).toBeGreaterThan(0);
        expect(second.tally.made).toBeGreaterThanOrEqual(second.tally.refused);
        const { stdout } = await run(join(root, "_build/default/bin/main.exe"), []);
        expect(stdout).toMatch(/^\d+$/);
      } finally {
        await fresh.remove();
      }
    });
  });

  describe("that nobody announced", () => {
    test("is served, and what it used is noted once it is gone", async () => {
      expect(await machine.server.stand(machine.variables)).toBe(true);

      const { code } = await dune(root, { ...machine.variables, DUNE_CACHE: "enabled" });
      await machine.server.stop();

      expect(code).toBe(0);
      const [build] = machine.unannounced;
      expect(build?.made.size).toBe(build?.asked.size);
      expect(build?.made.size).toBeGreaterThan(20);
    });
  });

  test("two builds at once, each with an endpoint file of its own, do not see each other's rules", async () => {
    const other = join(work, `other${serial}`);
    await writeToyProject(other, { libraries: 1, modulesPerLibrary: 2 });
    await commitAll(other);

    const [one, two] = await Promise.all([
      buildThrough(machine, root),
      buildThrough(machine, other),
    ]);

    expect([one, two].map(({ ran }) => (ran.code === 0 ? "" : ran.stderr))).toEqual(["", ""]);
    expect(two.build.asked.size).toBeLessThan(one.build.asked.size);
    expect(one.tally.made + one.tally.used).toBe(one.build.asked.size);
    expect(two.tally.made + two.tally.used).toBe(two.build.asked.size);
  });

  test("a workspace without Git is served", async () => {
    await rm(join(root, ".git"), { recursive: true });

    const { ran, tally } = await buildThrough(machine, root);

    expect(ran.code).toBe(0);
    expect(tally.made).toBeGreaterThan(20);
  });

  test("a repository without commits is built: dune fails with its cache on, and is told to leave it off", async () => {
    await rm(join(root, ".git"), { recursive: true });
    await run("git", ["init", "--quiet"], { cwd: root });
    const enabled = { ...machine.variables, DUNE_CACHE: "enabled" };
    expect((await dune(root, { ...enabled, DUNE_CACHE_TRANSPORT: "direct" })).code).toBe(1);

    const { ran } = await buildThrough(machine, root);

    expect(ran.code).toBe(0);
  });

  test("a dirty tree is served, and what it changes is made", async () => {
    const farm = await published();
    await changeLeaf(root, smallToy, 1);
    await clean();
    const fresh = await duneMachine();
    try {
      const { ran, tally } = await buildThrough(fresh, root, { farm, preparedMs: 10_000 });

      expect(ran.code).toBe(0);
      expect(tally.given).toBe(farm.results.size);
      expect(tally.used).toBeGreaterThan(farm.results.size / 2);
      expect(tally.made).toBeGreaterThan(0);
    } finally {
      await fresh.remove();
    }
  });

  test("duplicates are linked when that is wished", async () => {
    const linking = await duneMachine({ deduplicate: true });
    try {
      await buildThrough(linking, root);
      // dune forgets what it built, but its cache's descriptions of rules, not the files: all is made again.
      await clean();
      await rm(join(linking.directory, "cache/dune/db/meta"), { recursive: true });

      const { ran } = await buildThrough(linking, root);

      expect(ran.code).toBe(0);
      const libraries = join(root, "_build/default/lib0/.lib0.objs/byte");
      const made = await Promise.all(
        (await readdir(libraries)).map((name) => stat(join(libraries, name))),
      );
      // What dune said last is no longer answered: it is not made to wait for that.
      expect(made.filter((file) => file.nlink > 1).length).toBeGreaterThan(0);
    } finally {
      await linking.remove();
    }
  });

  test("nothing of a build is left once it is over", async () => {
    await buildThrough(machine, root);

    expect(await readdir(join(machine.directory, "granary/dune/run"))).toEqual([]);
  });
});
