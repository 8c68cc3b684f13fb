import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../../../test/support/free-port.ts";
import { ccache as ccacheNeed } from "../../../test/support/needs/machine-needs.ts";
import type { Need } from "../../../test/support/needs/needs.ts";
import { sccacheNeed, sccacheProgram } from "../../../test/support/needs/sccache-need.ts";
import { runProgram } from "../../../test/support/process.ts";
import type { CompilerCacheServer } from "./compiler-cache-servers.ts";

/** A program that compiles files and stores the results at a server. */
export interface CompilerCacheTool {
  readonly name: string;
  readonly need: Need;
  /** Compiles `unit0.c` to `unitN.c` of a directory, one after the other, and returns how long that took. */
  compileAll(
    directory: string,
    units: number,
    server: CompilerCacheServer,
  ): Promise<{ readonly seconds: number; readonly hits: number }>;
}

const unitArgs = (n: number) => ["gcc", "-c", `unit${n}.c`, "-o", `unit${n}.o`];

/** ccache without a local cache. */
export const ccacheTool: CompilerCacheTool = {
  name: "ccache",
  need: ccacheNeed,
  async compileAll(directory, units, { ccacheStorage }) {
    const local = await mkdtemp(join(directory, "ccache-"));
    const env = {
      CCACHE_DIR: local,
      CCACHE_REMOTE_ONLY: "1",
      CCACHE_REMOTE_STORAGE: ccacheStorage,
    };
    const startedAt = performance.now();
    for (let n = 0; n < units; n++) await mustRun("ccache", unitArgs(n), { cwd: directory, env });
    const seconds = (performance.now() - startedAt) / 1_000;
    const stats = await mustRun("ccache", ["--print-stats"], { cwd: directory, env });
    const count = (name: string) => Number(new RegExp(`^${name}\\t(\\d+)`, "m").exec(stats)?.[1]);
    await rm(local, { recursive: true });
    return { seconds, hits: count("direct_cache_hit") + count("preprocessed_cache_hit") };
  },
};

/** Counts by language. */
const Counts = z.object({ counts: z.record(z.string(), z.number()) });
const SccacheStats = z.object({
  stats: z.object({ cache_hits: Counts, cache_writes: z.number(), cache_write_errors: z.number() }),
});

/** sccache, whose server runs during one turn only: it would keep results in memory. */
export const sccacheTool: CompilerCacheTool = {
  name: "sccache",
  need: sccacheNeed("gcc"),
  async compileAll(directory, units, { name, sccacheEnv }) {
    if (sccacheEnv === undefined) throw new Error(`sccache cannot use ${name}`);
    const env = {
      SCCACHE_CONF: join(directory, "no-configuration"),
      SCCACHE_SERVER_PORT: String(await freePort()),
      ...sccacheEnv,
    };
    const run = (args: readonly string[]) =>
      mustRun(sccacheProgram ?? "sccache", args, { cwd: directory, env });
    const statsNow = async () =>
      SccacheStats.parse(JSON.parse(await run(["--show-stats", "--stats-format=json"]))).stats;
    await run(["--start-server"]);
    try {
      const startedAt = performance.now();
      for (let n = 0; n < units; n++) await run(unitArgs(n));
      let stats = await statsNow();
      const hits = Object.values(stats.cache_hits.counts).reduce((sum, count) => sum + count, 0);
      // It stores results after it has answered.
      while (stats.cache_writes + stats.cache_write_errors < units - hits) {
        await wait(5);
        stats = await statsNow();
      }
      if (stats.cache_write_errors > 0)
        throw new Error(`sccache could not store ${stats.cache_write_errors} results`);
      return { seconds: (performance.now() - startedAt) / 1_000, hits };
    } finally {
      await run(["--stop-server"]);
    }
  },
};

async function mustRun(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}
