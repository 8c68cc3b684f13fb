import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** Bundles a script into one file that Node can run: it starts in 50 ms, so that it can be killed often. */
export async function bundleScript(script: string, directory: string): Promise<string> {
  const outfile = join(directory, "script.mjs");
  await build({
    stdin: { contents: script, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["@bokuweb/zstd-wasm"],
    // pino loads its parts at run time.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    outfile,
    logLevel: "error",
  });
  return outfile;
}

interface Killed {
  readonly lines: string[];
}

/** Runs a script until it has printed so many lines and `afterMs` have passed, then kills it. */
export async function runAndKill(
  file: string,
  args: readonly string[],
  afterLines: number,
  afterMs: number,
): Promise<Killed> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  // Also when the test has given up.
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const text = await textUntilKilled(child, afterLines, afterMs);
  await ended;
  // The last line may be incomplete.
  return { lines: text().split("\n").slice(0, -1) };
}

async function textUntilKilled(child: ChildProcess, afterLines: number, afterMs: number) {
  let text = "";
  await new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.stdout?.on("data", (data: Buffer) => {
      text += data.toString();
      if (text.split("\n").length > afterLines) resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill("SIGKILL");
  return () => text;
}
