import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../run-program.ts";
import type { DemoTools } from "./demo-steps.ts";

/**
 * Searches for a working C compiler, and for ccache 4.7 or later, which can use a farm as storage.
 *
 * The compiler is tried, because some machines have one without the headers of the C library.
 */
export async function findDemoTools(): Promise<DemoTools> {
  const [hasCompiler, hasCcache] = await Promise.all([compiles(), hasRecentCcache()]);
  return { hasCompiler, hasCcache };
}

async function compiles(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "grange-cc-"));
  try {
    const { exitCode } = await runProgram("cc", ["-x", "c", "-", "-o", join(folder, "tried")], {
      input: '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n',
      timeoutMs: 20_000,
    });
    return exitCode === 0;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function hasRecentCcache(): Promise<boolean> {
  try {
    const { stdout } = await runProgram("ccache", ["--version"], { timeoutMs: 20_000 });
    return isRecentCcache(stdout);
  } catch {
    return false;
  }
}

/** Parses `ccache version 4.7.5`, the first line of `ccache --version`. */
export function isRecentCcache(text: string): boolean {
  const [, major = "0", minor = "0"] = /version (\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 7);
}
