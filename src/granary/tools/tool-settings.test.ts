import { expect, test } from "vitest";
import { bazelrcText, namesJobs, namesRemoteCache } from "./bazel-settings.ts";
import { toolSettings } from "./tool-settings.ts";

const source = { port: 4711, build: "b1", project: "team/web", variables: {} };
const ofBuild = "http://127.0.0.1:4711/build/b1/cache/team/web";

test("each tool uses its own cache, under the build's address", () => {
  expect(toolSettings(source)).toEqual({
    variables: {
      CCACHE_COMPILERCHECK: "content",
      CCACHE_REMOTE_STORAGE: `${ofBuild}/ccache|operation-timeout=1000`,
      CCACHE_SECONDARY_STORAGE: `${ofBuild}/ccache|operation-timeout=1000`,
      DUNE_CACHE: "enabled",
      NX_SELF_HOSTED_REMOTE_CACHE_SERVER: `${ofBuild}/nx`,
      NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN: "none",
      SCCACHE_WEBDAV_ENDPOINT: "http://127.0.0.1:4711/cache/team/web/sccache",
      SCCACHE_IGNORE_SERVER_IO_ERROR: "1",
      TURBO_API: `${ofBuild}/turborepo`,
      TURBO_TOKEN: "none",
      TURBO_TEAM: "grange",
    },
    leftAlone: [],
  });
});

test.each([
  [{ CCACHE_REMOTE_STORAGE: "redis://x" }, /^CCACHE/, "ccache still has CCACHE_REMOTE_STORAGE"],
  [{ CCACHE_SECONDARY_STORAGE: "file:/x" }, /^CCACHE/, "ccache still has CCACHE_SECONDARY_STORAGE"],
  [{ SCCACHE_BUCKET: "b" }, /^SCCACHE/, "sccache still has SCCACHE_BUCKET"],
  [{ TURBO_TOKEN: "secret" }, /TURBO/, "turborepo still has TURBO_TOKEN"],
  [{ NX_CLOUD_ACCESS_TOKEN: "secret" }, /^NX/, "nx still has NX_CLOUD_ACCESS_TOKEN"],
])("what the user set stays unless asked: %j", (variables, names, said) => {
  const kept = toolSettings({ ...source, variables });
  expect(Object.keys(kept.variables).filter((name) => names.test(name))).toEqual([]);
  expect(kept.leftAlone.join()).toContain(said);
  expect(kept.leftAlone.join()).not.toContain("secret");

  const replaced = toolSettings({ ...source, variables, replace: true });
  expect(replaced.leftAlone).toEqual([]);
  expect(Object.keys(replaced.variables).some((name) => names.test(name))).toBe(true);
});

test("a remote cache in a tool's own file is kept, too", () => {
  const { variables, leftAlone } = toolSettings({
    ...source,
    setInFiles: { ccache: "/x/ccache.conf" },
  });

  expect(variables).not.toHaveProperty("CCACHE_REMOTE_STORAGE");
  expect(leftAlone).toEqual(["ccache still has the remote cache that /x/ccache.conf names"]);
});

test.each([
  ["a variable", { variables: { CCACHE_COMPILERCHECK: "mtime" } }],
  ["a file", { compilerCheckInFile: true }],
])("how ccache identifies compilers stays as %s of the user's says", (_, more) => {
  const { variables } = toolSettings({ ...source, ...more });

  expect(variables).not.toHaveProperty("CCACHE_COMPILERCHECK");
  expect(variables).toHaveProperty("CCACHE_REMOTE_STORAGE");
});

test("Bazel's actions name the environment", () => {
  const text = bazelrcText({ ...source, environment: "ab12" }, false);

  expect(text).toContain("build --remote_default_exec_properties=grange-environment=ab12\n");
  expect(bazelrcText(source, false)).not.toContain("exec_properties");
});

test("a nested build uses its own address", () => {
  const outer = toolSettings({ ...source, build: "outer" });

  const inner = toolSettings({ ...source, variables: outer.variables });

  expect(inner.leftAlone).toEqual([]);
  expect(inner.variables["CCACHE_REMOTE_STORAGE"]).toBe(`${ofBuild}/ccache|operation-timeout=1000`);
  expect(inner.variables["TURBO_API"]).toBe(`${ofBuild}/turborepo`);
});

test("keeps the user's Turborepo team and a disabled dune cache", () => {
  const { variables } = toolSettings({
    ...source,
    variables: { TURBO_TEAM: "ours", DUNE_CACHE: "disabled" },
  });

  expect(variables).not.toHaveProperty("TURBO_TEAM");
  expect(variables).not.toHaveProperty("DUNE_CACHE");
});

test.each([
  ["build --remote_cache=grpc://x", true],
  ["common --jobs=3 --remote_executor=grpc://x", true],
  ["build --jobs=3 \\\n  --remote_cache http://x", true],
  ["build:ci --remote_cache=grpc://x", false],
  ["build --remote_cache=", false],
  ["# build --remote_cache=grpc://x", false],
  ["build --remote_cache_compression", false],
])("of the bazelrc %j", (text, expected) => {
  expect(namesRemoteCache(text)).toBe(expected);
});

test.each([
  ["build --jobs=3", true],
  ["build --copt=-g -j 3", true],
  ["common \\\n  --jobs 3", true],
  ["  test -j3", true],
  ["# build --jobs=3", false],
  ["build --local_test_jobs=3", false],
  ["build:ci --jobs=3", false],
  ["build:ci --jobs=3\nbuild --config=ci", true],
  ["build:ci --jobs=3\nbuild --config 'ci'", true],
  ["build:ci --jobs=3\nbuild --config=cinema", false],
  ["build:linux --jobs=3", true],
])("whether the bazelrc %j says how many jobs there are", (text, expected) => {
  expect(namesJobs(text)).toBe(expected);
});
