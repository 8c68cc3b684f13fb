import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Code } from "#proto/google/rpc/code_pb.ts";
import type { BuildTool } from "./build-tool.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/** Prints a different text in each run. */
const clock = "date +%s.%N";

/** One action, which each tool has uploaded to a different instance. */
async function theSameIn(tools: readonly BuildTool[], script: string) {
  const action = { salt: bytesOf(randomUUID()) };
  const [one] = await Promise.all(tools.map((tool) => tool.putAction({ script, action })));
  if (one === undefined) throw new Error("no tool, no action");
  return one;
}

export function mergingRules(farm: () => SharedFarm): void {
  describe("Execute and the cache", () => {
    test("what was executed is answered from the cache, as a cached result (all clients)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: clock });
      const first = await tool.ran(tool.execute(action));

      const second = await tool.ran(tool.execute(action));

      expect(first.response.cachedResult).toBe(false);
      expect(second.response.cachedResult).toBe(true);
      expect(textOf(second.result.stdoutRaw)).toBe(textOf(first.result.stdoutRaw));
      expect(second.operation.done).toBe(true);
      expect(second.operation.name).not.toBe(first.operation.name);
    });

    test("skip_cache_lookup executes again, and its result replaces the one that is there (Pants; Bazel after lost outputs)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: clock });
      const first = await tool.ran(tool.execute(action));

      const second = await tool.ran(tool.execute(action, { skipCacheLookup: true }));

      expect(second.response.cachedResult).toBe(false);
      expect(textOf(second.result.stdoutRaw)).not.toBe(textOf(first.result.stdoutRaw));
      const cached = await tool.cached(action);
      expect(textOf(cached.stdoutRaw)).toBe(textOf(second.result.stdoutRaw));
    });

    test("a failed result is kept from GetActionResult and executed again (Bazel executes again when it gets one)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: `${clock}; exit 3` });
      const first = await tool.ran(tool.execute(action));

      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
      const second = await tool.ran(tool.execute(action));
      expect(second.response.cachedResult).toBe(false);
      expect(textOf(second.result.stdoutRaw)).not.toBe(textOf(first.result.stdoutRaw));
    });

    test("do_not_cache is neither stored nor joined (Bazel's tag no-cache, Buck2's local-only outputs)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({
        script: `sleep 0.3; ${clock}`,
        action: { doNotCache: true },
      });

      const both = await Promise.all([
        tool.ran(tool.execute(action)),
        tool.ran(tool.execute(action)),
      ]);

      expect(new Set(both.map(({ result }) => textOf(result.stdoutRaw))).size).toBe(2);
      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
      const third = await tool.ran(tool.execute(action));
      expect(third.response.cachedResult).toBe(false);
    });

    test("two clients that ask for the same at once share one execution, by an operation each (CI with many machines)", async () => {
      const [one, other] = [farm().tool(), farm().tool()];
      const action = await one.putAction({ script: `sleep 0.5; ${clock}` });

      const both = await Promise.all([
        one.ran(one.execute(action)),
        other.ran(other.execute(action)),
      ]);

      expect(new Set(both.map(({ operation }) => operation.name)).size).toBe(2);
      expect(new Set(both.map(({ result }) => textOf(result.stdoutRaw))).size).toBe(1);
    });

    test("instance names are kept apart: results of one are none of the other's (one farm, many repositories)", async () => {
      const [one, other] = ["team/a", "team/b"].map((instanceName) =>
        farm().tool({ instanceName }),
      );
      if (one === undefined || other === undefined) throw new Error("there are two");
      // Blobs are separate, too.
      const action = await theSameIn([one, other], clock);
      const first = await one.ran(one.execute(action));

      expect(await refusal(other.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
      const second = await other.ran(other.execute(action));
      expect(second.response.cachedResult).toBe(false);
      expect(textOf(second.result.stdoutRaw)).not.toBe(textOf(first.result.stdoutRaw));
    });

    test("so are blobs: one instance is not told of what another has (private repositories on one farm)", async () => {
      const one = farm().tool({ instanceName: "team/g" });
      const other = farm().tool({ instanceName: "team/h" });
      const blob = await one.put(bytesOf(`only ${Math.random()}`));

      expect(await other.missing(blob)).toHaveLength(1);
      expect(await one.missing(blob)).toEqual([]);
      expect(await other.read(blob).catch(() => undefined)).toBeUndefined();
    });

    test("the same at once in two instances is executed twice", async () => {
      const tools = ["team/c", "team/d"].map((instanceName) => farm().tool({ instanceName }));
      const action = await theSameIn(tools, `sleep 0.3; ${clock}`);

      const both = await Promise.all(tools.map((tool) => tool.ran(tool.execute(action))));

      expect(new Set(both.map(({ result }) => textOf(result.stdoutRaw))).size).toBe(2);
    });
  });
}
