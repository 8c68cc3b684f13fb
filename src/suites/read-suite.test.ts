import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseSuite, readSuiteFile, suiteDigest } from "./read-suite.ts";
import { smallDefinition, smallSuite } from "./suite.fixture.ts";
import { readSuiteText } from "./suite-yaml.ts";

type Definition = ReturnType<typeof smallDefinition>;

function said(work: () => unknown): string {
  try {
    work();
  } catch (reason) {
    return (reason as Error).message;
  }
  return "nothing";
}

function saidOf(change: (definition: Definition) => unknown): string {
  const definition = smallDefinition();
  return said(() => parseSuite(change(definition) ?? definition, "small.yml"));
}

describe("a definition", () => {
  test("is unchanged after parsing again, with the same digest for any order of keys", () => {
    const suite = smallSuite();
    const turned = Object.fromEntries(
      Object.entries(JSON.parse(JSON.stringify(suite))).toReversed(),
    );
    const again = parseSuite(turned, "again");

    expect(again).toEqual(suite);
    expect(suiteDigest(again)).toBe(suiteDigest(suite));
    expect(suiteDigest({ ...suite, requestsAtOnce: 2 })).not.toBe(suiteDigest(suite));
  });

  test("gives files of a section to each benchmark without a file of that name", () => {
    const benchmarks = smallSuite().compile?.benchmarks ?? {};

    expect(benchmarks["a"]?.files).toEqual({ "tsconfig.json": {} });
    expect(benchmarks["b"]?.files).toEqual({ "tsconfig.json": { include: ["src"] } });
  });

  test.each<{ what: string; change: (definition: Definition) => unknown; says: string }>([
    {
      what: "no such metric",
      change: (d) => ({ ...d, headline: "speed" }),
      says: "headline: there is no metric speed; the metrics are wall-time, instructions, files",
    },
    {
      what: "no such profile",
      change: (d) => void (d.compile.benchmarks.c.profiles = ["chekc"]),
      says: "compile.benchmarks.c.profiles[0]: there is no profile chekc; the profiles are check, emit, rare",
    },
    {
      what: "no such backend",
      change: (d) => void (d.compile.benchmarks.c.backends = ["jit"]),
      says: "there is no backend jit; the backends are js, native, slow",
    },
    {
      what: "no such patch",
      change: (d) => void (d.compile.scenarios.patched.patch = "hub"),
      says: "compile.scenarios.patched.patch: no benchmark of the section has a patch hub",
    },
    {
      what: "a patch for nothing",
      change: (d) =>
        void Object.assign(d.compile.benchmarks.b.patches, { hub: { file: "x", append: "" } }),
      says: "compile.benchmarks.b.patches.hub: no scenario applies this patch",
    },
    {
      what: "a patch of two kinds",
      change: (d) => void Object.assign(d.compile.benchmarks.b.patches.leaf, { replace: "y" }),
      says: "must have either append or replace",
    },
    {
      what: "a set outside of compile",
      change: (d) => void Object.assign(d.runtime.benchmarks.loop, { set: 1 }),
      says: "runtime.benchmarks.loop.set: only the compile section is split into sets",
    },
    {
      what: "a pattern that looks back",
      change: (d) => void (d.metrics.files.take.pattern = "(a)\\1"),
      says: "metrics.files.take.pattern: the pattern",
    },
    {
      what: "a pattern without a group",
      change: (d) => void (d.metrics.files.take.pattern = "a+"),
      says: "has no group; put ( ) around the number",
    },
    {
      what: "a pattern without a date",
      change: (d) => void (d.artifacts.master.versions = "dev"),
      says: 'artifacts.master.versions: the pattern "dev" has no group (?<date>…) for the day',
    },
    {
      what: "a tag for all days",
      change: (d) => void (d.artifacts.master.tag = "nightly"),
      says: "must have {date} in it",
    },
    {
      what: "an unknown hole",
      change: (d) => void (d.compile.profiles.emit.args = ["--outDir", "{output}"]),
      says: "compile.profiles.emit.args[1]: {output} has no value",
    },
    {
      what: "a path that leads out",
      change: (d) => void Object.assign(d.compile.benchmarks.a.files, { "../x": "" }),
      says: "a path below the folder: not absolute, no `..`",
    },
    {
      what: "an unknown key",
      change: (d) => ({ ...d, benchmark: {} }),
      says: "benchmark: no such key is known here",
    },
    {
      what: "a backend without a tool",
      change: (d) => void Reflect.deleteProperty(d.backends.slow, "tool"),
      says: "backends.slow: has no tool: describe how to call it",
    },
    {
      what: "an invalid integrity",
      change: (d) =>
        void Object.assign(d.compile.benchmarks.a, {
          source: { npm: "x", version: "1.0.0", integrity: "sha1-x" },
        }),
      says: "compile.benchmarks.a.source.integrity: sha512-…",
    },
    {
      what: "a version that is a tag",
      change: (d) =>
        void Object.assign(d.compile.benchmarks.a, {
          source: { npm: "x", version: "latest", integrity: `sha512-${"A".repeat(86)}==` },
        }),
      says: "an exact version, such as 5.9.3",
    },
    {
      what: "a package that is an option",
      change: (d) => void (d.backends.slow.packages = [{ npm: "--global" }]),
      says: "backends.slow.packages[0].npm: the name of an npm package",
    },
    {
      what: "a word of JavaScript",
      change: (d) => void Object.assign(d.targets, { constructor: {} }),
      says: "targets.constructor: cannot be a name; choose another",
    },
    {
      what: "a missing key",
      change: (d) => ({ ...d, compile: { ...d.compile, command: undefined } }),
      says: "compile.command: is missing",
    },
    {
      what: "a size of anything",
      change: (d) => ({
        ...d,
        metrics: {
          ...d.metrics,
          size: { take: { from: "size", of: "/etc" }, nature: "exact", unit: "bytes" },
        },
      }),
      says: "metrics.size.take.of: must be {artifact}, {out}, {source} or {state}",
    },
    {
      what: "no section",
      change: (d) => ({ ...d, compile: undefined, runtime: undefined, toolchain: undefined }),
      says: "has no section",
    },
    {
      what: "rounds that fall",
      change: (d) => ({ ...d, pairs: { rounds: [10, 5] } }),
      says: "pairs.rounds[1]: must be greater than the one before",
    },
    {
      what: "too many cases",
      change: (d) => ({
        ...d,
        compile: {
          ...d.compile,
          benchmarks: Object.fromEntries(
            Array.from({ length: 501 }, (_, i) => [
              `b${i}`,
              { patches: { leaf: { file: "a", append: "" } } },
            ]),
          ),
        },
      }),
      says: "compile.benchmarks: has 501 entries; at most 500 are taken",
    },
    {
      what: "depth",
      change: (d) =>
        void Object.assign(d.compile.benchmarks.a.files, {
          deep: JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`),
        }),
      says: "more than 32 levels deep",
    },
    {
      what: "size",
      change: (d) =>
        void Object.assign(d.compile.benchmarks.a.files, { large: "x".repeat(2_000_000) }),
      says: "larger than 1024 KiB",
    },
    { what: "something else", change: () => "suite", says: "small.yml: " },
  ])("with $what is refused", ({ change, says }) => {
    expect(saidOf(change)).toContain(says);
  });
});

describe("a file", () => {
  test("has problems with line and column", () => {
    const yaml =
      "suite: x\nartifacts: { from: nowhere }\nheadline: speed\ntargets: {t: {}}\nbackends:\n  b: { tool: [b] }\nmetrics:\n  m: { take: { from: json, pointer: x }, nature: exact, unit: count }\ntoolchain:\n  command: [b]\n  benchmarks:\n    a: { profiles: [p] }\n";
    const { value, place } = readSuiteText("x.yml", yaml);

    expect(said(() => parseSuite(value, "x.yml", place)).split("\n")).toEqual([
      "x.yml:8:37: metrics.m.take.pointer: is not a JSON pointer such as /result/seconds",
      "x.yml:3:11: headline: there is no metric speed; the metrics are m",
      "x.yml:12:21: toolchain.benchmarks.a.profiles[0]: there is no profile p; the profiles are yet to be written",
    ]);
  });

  test.each([
    {
      what: "aliases",
      yaml: "a: &x [1]\nb: [*x, *x]\n",
      says: "x.yml:1:7: has an anchor or an alias",
    },
    {
      what: "a bomb",
      yaml: `a: &a [x]\n${Array.from({ length: 20 }, (_, i) => `b${i}: &b${i} [${`*${i === 0 ? "a" : `b${i - 1}`},`.repeat(9)}]\n`).join("")}`,
      says: "has an anchor or an alias",
    },
    { what: "a merge", yaml: "a:\n  <<: {b: 1}\n", says: '"<<" cannot be a key' },
    { what: "a key twice", yaml: "a: 1\na: 2\n", says: 'x.yml:2:1: the key "a" occurs twice here' },
    { what: "a prototype", yaml: "__proto__: {}\n", says: '"__proto__" cannot be a key' },
    { what: "depth", yaml: "[".repeat(20_000), says: "deep" },
    {
      what: "depth that is closed",
      yaml: `a: ${"[".repeat(100)}${"]".repeat(100)}\n`,
      says: "more than 32 levels deep",
    },
    { what: "no YAML", yaml: "a: [\n", says: "x.yml:2:1: not valid YAML" },
    { what: "size", yaml: `a: ${"x".repeat(2_000_000)}`, says: "larger than 1024 KiB" },
    { what: "a map as a key", yaml: "{a: 1}: 2\n", says: "a key must be a plain text" },
  ])("with $what is refused", ({ yaml, says }) => {
    expect(said(() => readSuiteText("x.yml", yaml))).toContain(says);
  });

  test("that does not exist is reported", async () => {
    await expect(readSuiteFile("/nowhere/x.yml")).rejects.toThrow("the suite cannot be read");
  });

  test("may name a repository relative to its folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "grange-suite-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "x.yml");
    await writeFile(
      file,
      "suite: x\nartifacts: { from: git, repository: .. }\nheadline: m\ntargets: {t: {}}\nbackends: { b: { tool: [b] } }\n" +
        "metrics: { m: { take: { from: wall-time }, nature: noisy, unit: seconds } }\ntoolchain: { command: [b], benchmarks: { a: {} } }\n",
    );

    const { artifacts } = await readSuiteFile(file);

    expect(artifacts).toMatchObject({ repository: join(folder, "..") });
  });
});

test.each(["typescript", "grange"])("the suite %s that comes along is sound", async (name) => {
  const suite = await readSuiteFile(join(import.meta.dirname, `../../.grange/bench/${name}.yml`));

  expect(suite.suite).toBe(name);
});
