import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { testRepository } from "#git/repository.fixture.ts";
import { ownOwner } from "#machine/owner.ts";
import { parseSuite } from "#suites/read-suite.ts";
import { smallDefinition, smallSuite } from "#suites/suite.fixture.ts";
import { type CacheOptions, openArtifactCache } from "./artifact-cache.ts";
import { Component } from "./component.ts";
import { testRegistry } from "./registry.fixture.ts";
import { tarballOf } from "./tarball.fixture.ts";

const suite = smallSuite();
const { signal } = new AbortController();

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "grange-artifacts-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

function cacheIn(directory: string, more: Partial<CacheOptions> = {}) {
  return openArtifactCache({ directory, limitBytes: 1e9, ...more });
}

const npm = (version: string): Component => ({ kind: "npm", package: "compiler", version });

function blob(bytes: Buffer): { component: Component; fetchBlob: () => AsyncIterable<Uint8Array> } {
  const digest = `${createHash("sha256").update(bytes).digest("hex")}/${bytes.length}`;
  return {
    component: { kind: "blob", digest },
    fetchBlob: async function* () {
      yield bytes.subarray(0, 10);
      yield bytes.subarray(10);
    },
  };
}

test("a cache is closed to other users, also one that was open", async () => {
  const directory = folder();
  await mkdir(join(directory, "kept"), { mode: 0o755 });

  await cacheIn(directory);

  const modes = await Promise.all(
    (await readdir(directory)).map(
      async (name) => (await stat(join(directory, name))).mode & 0o777,
    ),
  );
  expect(new Set(modes)).toEqual(new Set([0o700]));
});

describe("a package", () => {
  test("is downloaded once, whoever places it how often, and its tool is ready to be called", async () => {
    const registry = await testRegistry([
      { package: "compiler", version: "5.9.3", files: { "c.js": "console.log('five')" } },
    ]);
    const directory = folder();
    const [one, two] = [await cacheIn(directory), await cacheIn(directory)];

    const placed = await Promise.all([
      one.place(suite, "js", npm("5.9.3"), signal),
      one.place(suite, "js", npm("5.9.3"), signal),
      two.place(suite, "js", npm("5.9.3"), signal),
    ]);

    expect(new Set(placed.map((each) => each.directory)).size).toBe(1);
    expect(registry.downloads.get("compiler@5.9.3")).toBe(1);
    const [program = "", ...args] = placed[0].tool;
    expect(spawnSync(program, args, { encoding: "utf8" }).stdout).toBe("five\n");
    await Promise.all(placed.map((each) => one.release(each)));
  });

  test("that is pinned must be what it was", async () => {
    const registry = await testRegistry([
      { package: "lib", version: "1.0.0" },
      { package: "lib", version: "2.0.0" },
    ]);
    const cache = await cacheIn(folder());
    const source = (version: string, integrity: string) =>
      cache.placeSource({ npm: "lib", version, integrity }, signal);

    const placed = await source("1.0.0", registry.integrityOf("lib", "1.0.0"));
    await expect(source("1.0.0", registry.integrityOf("lib", "2.0.0"))).rejects.toMatchObject({
      code: "data_loss",
      message: expect.stringContaining("lib@1.0.0 has changed"),
    });

    expect((await readdir(placed.directory)).toSorted()).toEqual(["index.js", "package.json"]);
  });

  test("that the registry gives otherwise than it promises is refused", async () => {
    await testRegistry([
      {
        package: "compiler",
        version: "5.0.0",
        served: tarballOf({ path: "package/evil", text: "" }),
      },
    ]);

    await expect(
      (await cacheIn(folder())).place(suite, "js", npm("5.0.0"), signal),
    ).rejects.toMatchObject({ code: "data_loss" });
  });

  test("of a version that is not there is not found", async () => {
    await testRegistry([{ package: "compiler", version: "5.0.0" }]);

    await expect(
      (await cacheIn(folder())).place(suite, "js", npm("5.0.1"), signal),
    ).rejects.toMatchObject({ code: "not_found" });
  });

  test.each(["--global", "..", "file:x", "git+ssh://x"])("cannot be called %s", (name) => {
    expect(Component.safeParse({ kind: "npm", package: name, version: "1.0.0" }).success).toBe(
      false,
    );
  });
});

describe("a tarball", () => {
  test("of the farm's store is placed when its bytes are right", async () => {
    const { component, fetchBlob } = blob(
      tarballOf({ path: "package/c", text: "#!", mode: 0o755 }),
    );
    const cache = await cacheIn(folder(), { fetchBlob });

    const { directory, tool } = await cache.place(suite, "native", component, signal);

    expect(tool).toEqual([join(directory, "c")]);
    expect((await stat(join(directory, "c"))).mode & 0o777).toBe(0o755);
  });

  test("with other bytes is refused, and leaves nothing", async () => {
    const { component } = blob(tarballOf({ path: "package/c", text: "good" }));
    const { fetchBlob } = blob(tarballOf({ path: "package/c", text: "evil" }));
    const directory = folder();

    await expect(
      (await cacheIn(directory, { fetchBlob })).place(suite, "native", component, signal),
    ).rejects.toMatchObject({ code: "data_loss" });

    expect(await readdir(join(directory, "kept"))).toEqual([]);
    expect(await readdir(join(directory, "making"))).toEqual([]);
  });

  test.each([
    { what: "a path that leads out", entry: { path: "package/../../x" } },
    { what: "an absolute path", entry: { path: "/etc/x" } },
    { what: "a link", entry: { path: "package/x", type: "2" } },
    { what: "a hard link", entry: { path: "package/x", type: "1" } },
  ])("with $what is refused", async ({ entry }) => {
    const { component, fetchBlob } = blob(tarballOf({ path: "package/c" }, entry));

    await expect(
      (await cacheIn(folder(), { fetchBlob })).place(suite, "native", component, signal),
    ).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

test("a folder of this machine is used where it is, a tarball is unpacked", async () => {
  const [here, cache] = [folder(), await cacheIn(folder())];
  await writeFile(join(here, "x.tgz"), tarballOf({ path: "package/c", text: "x" }));

  const inPlace = await cache.place(suite, "native", { kind: "path", path: here }, signal);
  const unpacked = await cache.place(
    suite,
    "native",
    { kind: "path", path: join(here, "x.tgz") },
    signal,
  );

  expect(inPlace.tool).toEqual([join(here, "c")]);
  expect(await readdir(unpacked.directory)).toEqual(["c"]);
  await expect(
    cache.place(suite, "native", { kind: "path", path: join(here, "none") }, signal),
  ).rejects.toMatchObject({ code: "not_found" });
});

describe("a commit", () => {
  const { artifacts: _, ...definition } = smallDefinition();
  const fromGit = (repository: string, build: string[][]) =>
    parseSuite(
      {
        ...definition,
        artifacts: { from: "git", repository, build },
        backends: {
          js: { tool: ["{artifact}/c"] },
          native: { tool: ["{artifact}/c"] },
          slow: { tool: ["x"] },
        },
      },
      "git",
    );

  test("is checked out and built once, without our secrets", async () => {
    const repository = testRepository();
    onTestFinished(() => rm(repository.path, { recursive: true }));
    repository.write({ "a.txt": "old" });
    const first = repository.commit("first");
    repository.write({ "a.txt": "new" });
    repository.commit("second");
    const build = [["sh", "-c", "cp a.txt built.txt; env > env.txt"]];
    const cache = await cacheIn(folder());
    const component = Component.parse({ kind: "git", repository: repository.path, commit: first });
    vi.stubEnv("GRANGE_TOKEN", "secret");
    onTestFinished(() => void vi.unstubAllEnvs());

    const { directory, tool } = await cache.place(
      fromGit(repository.path, build),
      "js",
      component,
      signal,
    );

    expect(tool).toEqual([join(directory, "c")]);
    expect(await readFile(join(directory, "built.txt"), "utf8")).toBe("old");
    expect(await readFile(join(directory, "env.txt"), "utf8")).not.toContain("secret");
  });

  test("whose build fails is told with what it said; one that is nowhere is not found", async () => {
    const repository = testRepository();
    onTestFinished(() => rm(repository.path, { recursive: true }));
    const commit = repository.commit("first");
    const cache = await cacheIn(folder());
    const failing = fromGit(repository.path, [["sh", "-c", "echo no disk; exit 3"]]);
    const place = (sha: string) =>
      cache.place(
        failing,
        "js",
        Component.parse({ kind: "git", repository: repository.path, commit: sha }),
        signal,
      );

    await expect(place(commit)).rejects.toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("ended with 3: no disk"),
    });
    await expect(place("0".repeat(40))).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("within its limit", () => {
  const tarballs = ["a", "b", "c"].map((name) =>
    blob(tarballOf({ path: `package/${name}`, text: name.repeat(1_000) })),
  );
  const fetchBlob = (digest: string) =>
    tarballs
      .find(({ component }) => component.kind === "blob" && component.digest === digest)
      ?.fetchBlob() ?? [];
  const [a, b, c] = tarballs.map(({ component }) => component);

  async function kept(directory: string): Promise<string[]> {
    const keys = await readdir(join(directory, "kept"));
    return (await Promise.all(keys.map((key) => readdir(join(directory, "kept", key, "content")))))
      .flat()
      .toSorted();
  }

  test("the cache keeps what was used last, and what is in use", async () => {
    const directory = folder();
    const cache = await cacheIn(directory, { limitBytes: 2_500, fetchBlob: fetchBlob as never });
    if (a === undefined || b === undefined || c === undefined) throw new Error("three are needed");
    const place = (component: Component) => cache.place(suite, "native", component, signal);

    await cache.release(await place(a));
    const placedB = await place(b);
    await cache.release(await place(a));
    const placedC = await place(c);
    expect(await kept(directory)).toEqual(["b", "c"]);

    const placedA = await place(a);
    expect(await kept(directory)).toEqual(["a", "b", "c"]);

    await cache.release(placedB);
    expect(await kept(directory)).toEqual(["a", "c"]);
    await cache.release(placedC);
    await cache.release(placedA);
  });

  test("what a killed process left is rubbish, and holds nothing and nobody up", async () => {
    const directory = folder();
    const [, ticks, namespace] = ownOwner().split("-");
    const dead = `${spawnSync("true").pid}-${ticks}-${namespace}`;
    await cacheIn(directory);
    const key = createHash("sha256")
      .update(JSON.stringify({ blob: a?.kind === "blob" ? a.digest : "" }))
      .digest("hex");
    await mkdir(join(directory, "making", `${dead}-0`, "content"), { recursive: true });
    await mkdir(join(directory, "held", key), { recursive: true });
    await writeFile(join(directory, "held", key, `${dead}-0`), "");
    await writeFile(join(directory, "locks", key), `${dead}\n`);
    await writeFile(join(directory, "locks", "cache"), `${dead}\n`);
    await writeFile(join(directory, "locks", `cache.${dead}-2`), `${dead}\n`);

    const cache = await cacheIn(directory, { limitBytes: 500, fetchBlob: fetchBlob as never });
    if (a === undefined) throw new Error("one is needed");
    await cache.release(await cache.place(suite, "native", a, signal));

    for (const part of ["making", "kept", "held", "locks"])
      expect(await readdir(join(directory, part))).toEqual([]);
  });
});

test("who waits for a download by another may give up", async () => {
  const directory = folder();
  const { component, fetchBlob } = blob(tarballOf({ path: "package/c" }));
  let begun = () => {};
  const hasBegun = new Promise<void>((done) => {
    begun = done;
  });
  let goOn = () => {};
  const slow = new Promise<void>((done) => {
    goOn = done;
  });
  const cache = await cacheIn(directory, {
    fetchBlob: async function* () {
      begun();
      await slow;
      yield* fetchBlob();
    },
  });
  const first = cache.place(suite, "native", component, signal);
  await hasBegun;
  const impatient = new AbortController();
  const second = cache.place(suite, "native", component, impatient.signal);
  impatient.abort();

  await expect(second).rejects.toMatchObject({ code: "cancelled" });
  goOn();
  await cache.release(await first);
});
