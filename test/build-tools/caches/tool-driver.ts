import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Need } from "../../support/needs/needs.ts";

/** What a build tool's user sees of a build. */
export interface Build {
  readonly code: number | null;
  /** Parts that came from the cache, and that were made. */
  readonly hits: number;
  readonly misses: number;
  /** One hash of all that was built. */
  readonly outputs: string;
  readonly said: string;
}

/** A real build tool, with a small workspace of its own. Nothing but the farm's cache outlives a build. */
export interface ToolDriver {
  readonly name: string;
  readonly need: Need;
  /** Where workspaces must lie, when the tool cannot reach all of the machine. */
  readonly root?: string;
  prepare(dir: string): Promise<void>;
  /** Builds all from scratch. `cache` is the farm's address with `/cache/PROJECT`. */
  build(dir: string, cache: string, token: string): Promise<Build>;
  /** Whether it ends its user's build when the cache's server is gone, whatever the server does. */
  readonly needsServer?: boolean;
}

/** One hash of files; "absent" for those that are not there. */
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
