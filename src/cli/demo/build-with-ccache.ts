import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultProject } from "#core/default-project.ts";
import { outputOf } from "../run-program.ts";
import type { DemoFarm } from "./demo-farm.ts";

const units = ["split_words", "word_table", "count_words"];

export interface CcacheSummary {
  readonly compilations: number;
  /** The hits of the second build, which started with an empty local cache. */
  readonly hits: number;
}

/**
 * Compiles the C library twice with ccache, each time as on a new machine: the cache on the disk is empty and the farm
 * is the only storage. The second build finds the results of the first.
 */
export async function buildWithCcache(farm: DemoFarm): Promise<CcacheSummary> {
  const folder = await mkdtemp(join(tmpdir(), "grange-ccache-"));
  try {
    const first = await compileAll(farm, join(folder, "first"));
    const second = await compileAll(farm, join(folder, "second"));
    return { compilations: first.compilations, hits: second.hits };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compileAll(
  { url, token, repository }: DemoFarm,
  cacheFolder: string,
): Promise<CcacheSummary> {
  const bearer = token === undefined ? "" : `|bearer-token=${token}`;
  const settings = [
    `CCACHE_DIR=${cacheFolder}`,
    "CCACHE_REMOTE_ONLY=1",
    "CCACHE_COMPILERCHECK=content",
    `CCACHE_REMOTE_STORAGE=${url}/cache/${defaultProject}/ccache${bearer}`,
  ];
  const ccache = (...args: string[]) =>
    outputOf("env", [...settings, "ccache", ...args], { cwd: repository.path });
  for (const unit of units) {
    await ccache("cc", "-std=c99", "-c", `c/${unit}.c`, "-o", `${cacheFolder}.${unit}.o`);
  }
  const hits = hitsIn(await ccache("--print-stats"));
  return { compilations: units.length, hits };
}

/** Reads the output of `ccache --print-stats`: a name, a tab and a number on each line. */
export function hitsIn(statistics: string): number {
  return ["direct_cache_hit", "preprocessed_cache_hit"]
    .map((name) => Number(new RegExp(`^${name}\\t(\\d+)`, "m").exec(statistics)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0);
}
