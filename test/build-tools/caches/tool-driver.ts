import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Need } from "../../support/needs/needs.ts";

/** The result of a build, as the build tool's user sees it. */
export interface Build {
  readonly code: number | null;
  /** Parts that came from the cache, or were built. */
  readonly hits: number;
  readonly misses: number;
  /** One hash of all outputs. */
  readonly outputs: string;
  readonly said: string;
}

/** A real build tool, with a small workspace. Only the farm's cache outlives a build. */
export interface ToolDriver {
  readonly name: string;
  readonly need: Need;
  prepare(dir: string): Promise<void>;
  /** Builds everything again. `cache` is the farm's URL with `/cache/PROJECT`. */
  build(dir: string, cache: string, token: string): Promise<Build>;
  /** Whether the tool fails the build if the cache's server is not available. */
  readonly needsServer?: boolean;
  /** Whether the tool sends its token only after a refusal, so that a wrong one does not prevent public reads. */
  readonly readsWithoutToken?: boolean;
}

/** Returns one hash of files; "absent" for files that do not exist. */
export async function hashOf(dir: string, files: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) {
    const bytes = await readFile(join(dir, file)).catch(() => Buffer.from("absent"));
    hash.update(`${file} ${bytes.byteLength}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

export function countIn(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
