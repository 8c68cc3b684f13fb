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

  /** Publishes the requests of a build on this machine. */
  async function published(on = machine): Promise<ToyFarm> {
    const farm = toyFarm();
    const first = await buildThrough(on, root);
    expect(first.ran.code).toBe(0);
    await on.publish(first.build, farm);
    return farm;
  }

  describe("and results of others:", () => {
    test("a build on a machine without results executes nothing", async () => {
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

    test("without a known duration, a rule's cost is not zero, because it would then never be fetched", async () => {
      const farm = await published();

      expect([...farm.results.values()].every(({ costMs }) => costMs === undefined)).toBe(true);
    });

    test("a commit that changes a leaf requests all rules, not only those that were executed", async () => {
      const farm = await published();
      await changeLeaf(root, smallToy, 1);
      await clean();

      const second = await buildThrough(machine, root);

      expect(second.tally.made).toBeGreaterThan(0);
      expect(second.tally.made).toBeLessThan(farm.results.size / 2);
      expect(second.build.asked.size).toBe(farm.results.size);
    });

    test("a build without outdated rules requests all its results", async () => {
      const farm = await published();

      const second = await buildThrough(machine, root);

      expect(second.tally).toMatchObject({ made: 0, used: farm.results.size });
      expect(new Set(second.build.asked.keys())).toEqual(new Set(farm.results.keys()));
    });

    test("results that dune made before there was a granary are read from its store", async () => {
      await dune(root, {
        ...machine.variables,
        DUNE_CACHE: "enabled",
        DUNE_CACHE_TRANSPORT: "direct",
      });
      await clean();

      const { tally, build } = await buildThrough(machine, root);

      // Also those that dune made just before the granary started.
      expect(tally.made).toBe(0);
      expect(tally.learnt).toBe(tally.used);
      expect(tally.used).toBeGreaterThan(20);
      expect(build.made.size).toBe(build.asked.size);
    });

    test("rules of a deleted module are no longer requested", async () => {
      const farm = await published();
      await writeFile(join(root, "lib0/extra.ml"), "let x = 1\n");
      await buildThrough(machine, root);
      await rm(join(root, "lib0/extra.ml"));

      const { build } = await buildThrough(machine, root);

      expect(new Set(build.asked.keys())).toEqual(new Set(farm.results.keys()));
    });

    test("files that do not match their digest are refused, and dune makes them itself", async () => {
      const farm = await published();
      const largest = [...farm.blobs.entries()].sort((a, b) => b[1].length - a[1].length);
      const poisoned = new Set<string>();
      for (const [key] of largest.slice(0, 5)) poisoned.add(key);
      // The false blobs have a correct hash of their bytes; only dune's digest shows the
      // difference.
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

  describe("without an announcement", () => {
    test("is served, and its used results are recorded after its end", async () => {
      expect(await machine.server.stand(machine.variables)).toBe(true);

      const { code } = await dune(root, { ...machine.variables, DUNE_CACHE: "enabled" });
      await machine.server.stop();

      expect(code).toBe(0);
      const [build] = machine.unannounced;
      expect(build?.made.size).toBe(build?.asked.size);
      expect(build?.made.size).toBeGreaterThan(20);
    });
  });

  test("two simultaneous builds with separate endpoint files do not see each other's rules", async () => {
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

  test("a repository without commits is built: dune fails with its cache, and the error says to disable it", async () => {
    await rm(join(root, ".git"), { recursive: true });
    await run("git", ["init", "--quiet"], { cwd: root });
    const enabled = { ...machine.variables, DUNE_CACHE: "enabled" };
    expect((await dune(root, { ...enabled, DUNE_CACHE_TRANSPORT: "direct" })).code).toBe(1);

    const { ran } = await buildThrough(machine, root);

    expect(ran.code).toBe(0);
  });

  test("a dirty tree is served, and only its changed rules are executed", async () => {
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

  test("duplicates are linked if this is configured", async () => {
    const linking = await duneMachine({ deduplicate: true });
    try {
      await buildThrough(linking, root);
      // dune forgets its outputs, and its cache loses the records of rules but not the files: all rules run again.
      await clean();
      await rm(join(linking.directory, "cache/dune/db/meta"), { recursive: true });

      const { ran } = await buildThrough(linking, root);

      expect(ran.code).toBe(0);
      const libraries = join(root, "_build/default/lib0/.lib0.objs/byte");
      const made = await Promise.all(
        (await readdir(libraries)).map((name) => stat(join(libraries, name))),
      );
      // Perhaps not all: dune does not wait for the response to its last message.
      expect(made.filter((file) => file.nlink > 1).length).toBeGreaterThan(0);
    } finally {
      await linking.remove();
    }
  });

  test("no part of a build remains after its end", async () => {
    await buildThrough(machine, root);

    expect(await readdir(join(machine.directory, "granary/dune/run"))).toEqual([]);
  });
});
