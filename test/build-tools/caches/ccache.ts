import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ccache as ccacheNeed } from "../../support/needs/machine-needs.ts";
import { runProgram } from "../../support/process.ts";
import { hashOf, type ToolDriver } from "./tool-driver.ts";

const units = [1, 2, 3, 4, 5];

/** ccache with the farm as its only storage. Values are the same in each layout, and keys have different paths. */
export function ccache(layout: "flat" | "subdirs" | "bazel"): ToolDriver {
  return {
    name: `ccache, layout ${layout}`,
    need: ccacheNeed,
    async prepare(dir) {
      for (const n of units) {
        await writeFile(
          join(dir, `unit${n}.c`),
          `#include <stdio.h>\nint unit${n}(void) { return puts("${layout} ${n}"); }\n`,
        );
      }
    },
    async build(dir, cache, token) {
      const local = join(dir, "ccache");
      await rm(local, { recursive: true, force: true });
      await mkdir(local);
      const env = {
        CCACHE_DIR: local,
        CCACHE_REMOTE_ONLY: "1",
        CCACHE_REMOTE_STORAGE: `${cache}/ccache|layout=${layout}|bearer-token=${token}`,
      };
      const objects = units.map((n) => `unit${n}.o`);
      let code: number | null = 0;
      let said = "";
      for (const n of units) {
        await rm(join(dir, `unit${n}.o`), { force: true });
        const args = ["gcc", "-c", `unit${n}.c`, "-o", `unit${n}.o`];
        const ended = await runProgram("ccache", args, { cwd: dir, env });
        code ||= ended.code;
        said += ended.stderr;
      }
      const stats = (await runProgram("ccache", ["--print-stats"], { env })).stdout;
      const count = (name: string) => Number(new RegExp(`^${name}\\t(\\d+)`, "m").exec(stats)?.[1]);
      const hits = count("direct_cache_hit") + count("preprocessed_cache_hit");
      return { code, hits, misses: count("cache_miss"), outputs: await hashOf(dir, objects), said };
    },
  };
}
