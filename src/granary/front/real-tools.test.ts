import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { assertGreen, bazelNeed, startBazel } from "../../../test/build-tools/bazel.ts";
import { bazelWorkspace } from "../../../test/build-tools/bazel-workspace.ts";
import { testedTools } from "../../../test/build-tools/caches/all-tools.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { noFarm } from "../farm/no-farm.ts";
import { fakeBuild } from "../tiered-cache/fake-build.fixture.ts";
import {
  type FarmStand,
  openCacheBehindLine,
  openCacheWith,
} from "../tiered-cache/tiered-cache.fixture.ts";
import { frontOver, sendAll } from "./front.fixture.ts";

const minute = 60_000;

/** Creates a machine with a build of project `tools`, as its tools see it. */
async function machine(stand: Parameters<typeof frontOver>[0]) {
  const build = fakeBuild({ project: "tools" });
  const { url } = await frontOver(stand, { builds: [build, fakeBuild()] });
  return { build, cache: `${url}/build/${build.id}/cache/tools` };
}

/** Returns the time that the build waited for a farm, in addition to the time of normal answers. */
const waitedMs = (build: ReturnType<typeof fakeBuild>) =>
  build.requests.reduce(
    (sum, asked) => sum + (asked.source === "unreachable" ? asked.waitedMs : 0),
    0,
  );

for (const tool of testedTools) {
  describe(`${tool.name} at a granary`, needs(tool.need), () => {
    test("finds results of another machine, and builds without the farm as well", async () => {
      const dir = await mkdtemp(join(tmpdir(), "grange-tool-"));
      onTestFinished(() => rm(dir, { recursive: true, force: true }));
      await tool.prepare(dir);
      const build = (cache: string) => tool.build(dir, cache, "none");

      const first = await openCacheWith(noFarm());
      const cold = await build((await machine(first)).cache);
      const second: FarmStand = await openCacheBehindLine({ roundTripMs: 20 });
      await sendAll(first, second.fake);
      const there = await machine(second);
      const warm = await build(there.cache);
      const third = await openCacheBehindLine();
      third.line.cut("silent");
      const alone = await machine(third);
      const without = await build(alone.cache);

      expect(cold).toMatchObject({ code: 0, hits: 0 });
      expect(warm).toMatchObject({ code: 0, hits: cold.misses, misses: 0 });
      expect(without).toMatchObject({ code: 0, hits: 0, misses: cold.misses });
      expect(warm.outputs).toBe(cold.outputs);
      expect(there.build.requests.map(({ source }) => source)).toContain("fetched");
      expect(waitedMs(there.build)).toBe(0);
      // The sum of all its waits, whether or not they were simultaneous.
      expect(waitedMs(alone.build)).toBeLessThan(4_000);
    });
  });
}

describe("Bazel at a granary", needs(bazelNeed), () => {
  // gRPC is tested with a whole granary in test/granary.
  test(
    "finds results of another machine over HTTP, and builds without the farm as well",
    async () => {
      const workspace = await bazelWorkspace();
      onTestFinished(() => workspace.remove());
      const bazel = await startBazel(workspace.path);
      onTestFinished(() => bazel.close());
      const targets = ["//gen/...", "//trees/...", "//shell/..."];
      const at = async (stand: Parameters<typeof frontOver>[0]) => {
        const { cache, build } = await machine(stand);
        await bazel.run("clean");
        const run = await bazel.run("build", ...targets, `--remote_cache=${cache}/bazel`);
        assertGreen(run);
        const { internal: _, ...processes } = run.processes;
        return { processes, build, outputs: await bazel.outputs() };
      };

      const first = await openCacheWith(noFarm());
      const cold = await at(first);
      const second = await openCacheBehindLine({ roundTripMs: 20 });
      await sendAll(first, second.fake);
      const warm = await at(second);
      const third = await openCacheBehindLine();
      third.line.cut("silent");
      const without = await at(third);

      expect(Object.keys(warm.processes)).toEqual(["remote cache hit"]);
      expect(warm.outputs).toEqual(cold.outputs);
      expect(without.outputs).toEqual(cold.outputs);
      expect(without.processes).toEqual(cold.processes);
      expect(first.outbox.length).toBeGreaterThan(5);
      expect(warm.build.requests.map(({ source }) => source)).not.toContain("missed");
    },
    6 * minute,
  );
});
