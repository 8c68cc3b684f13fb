import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Need } from "../support/needs/needs.ts";
import { programs } from "../support/needs/program.ts";
import { type Program, startProgram } from "../support/process.ts";
import { javaHome, shortLived } from "./bazel-toolchains.ts";

const ruleDirs = ["rules/cc", "rules/java", "rules/proto", "platforms", "tools/skylib"];

const bazelPrograms = programs("Bazel", {
  programs: ["bazel", "javac", "g++", "zip"],
  packages: [
    ..."bazel-bootstrap bazel-platforms bazel-rules-cc bazel-rules-java".split(" "),
    ..."bazel-rules-proto bazel-skylib g++ zip".split(" "),
  ],
});

const absentRules = ruleDirs
  .map((dir) => `/usr/share/bazel/${dir}`)
  .filter((dir) => !existsSync(dir));

/** Bazel, and the rules for its tests, as Debian installs them. */
export const bazelNeed: Need = {
  ...bazelPrograms,
  missing:
    bazelPrograms.missing ??
    (absentRules.length === 0 ? undefined : `not installed: ${absentRules.join(", ")}`),
};

/** The result of a build, with Bazel's own counts. */
export interface BazelRun {
  readonly code: number | null;
  /** The complete output. */
  readonly text: string;
  /** Processes by Bazel's kinds: `internal`, `linux-sandbox`, `remote`, `remote cache hit`, … */
  readonly processes: Readonly<Record<string, number>>;
  readonly ms: number;
}

export interface Bazel {
  /** Runs a command and returns its result, whether it succeeds or fails. */
  run(command: string, ...args: string[]): Promise<BazelRun>;
  start(command: string, ...args: string[]): Program;
  /** Returns the SHA-256 of each file below bazel-bin. */
  outputs(): Promise<Record<string, string>>;
  /** Ends the server, and removes its outputs. */
  close(): Promise<void>;
}

/** The server of a killed test ends after a minute. */
export const startupOptions = [
  "--nohome_rc",
  "--max_idle_secs=60",
  ...shortLived.map((option) => `--host_jvm_args=${option}`),
];

/**
 * Starts a separate Bazel server for a workspace: this takes seconds, so tests share it.
 *
 * @param within the prefix of the command line, such as that of a network namespace
 */
export async function startBazel(
  workspace: string,
  within: readonly string[] = [],
): Promise<Bazel> {
  const root = await mkdtemp(join(tmpdir(), "grange-bazel-"));
  const env = { HOME: root, JAVA_HOME: await javaHome() };
  const startup = [...startupOptions, `--output_user_root=${root}`];
  const start = (command: string, ...args: string[]) => {
    const [program = "", ...rest] = [...within, "bazel", ...startup, command, ...args];
    return startProgram(program, rest, { cwd: workspace, env });
  };
  const run = async (command: string, ...args: string[]) => {
    const startedAt = performance.now();
    const { code, stdout, stderr } = await start(command, ...args).finished;
    const text = stderr + stdout;
    return { code, text, processes: processesIn(text), ms: performance.now() - startedAt };
  };
  return {
    run,
    start,
    async outputs() {
      const { text } = await run("info", "bazel-bin");
      const bin = text.trim().split("\n").at(-1) ?? "";
      return hashesBelow(bin);
    },
    async close() {
      await run("shutdown");
      await removeReadOnly(root);
    },
  };
}

/** Throws with the complete output if a build failed. */
export function assertGreen({ code, text }: Pick<BazelRun, "code" | "text">): void {
  if (code !== 0) throw new Error(`Bazel ended with ${code}:\n${text}`);
}

/** Parses `INFO: 27 processes: 5 internal, 22 remote cache hit.` */
export function processesIn(text: string): Record<string, number> {
  const summary = /^INFO: \d+ process(?:es)?: (.*)\.$/m.exec(text)?.[1];
  if (summary === undefined) return {};
  return Object.fromEntries(
    summary.split(", ").map((part) => {
      const [, count, kind] = /^(\d+) (.*)$/.exec(part) ?? [];
      return [kind ?? part, Number(count)];
    }),
  );
}

async function hashesBelow(directory: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    // Argument files are not outputs: they exist only if a command was run locally.
    if (!entry.isFile() || entry.name.endsWith(".params")) continue;
    const path = join(entry.parentPath, entry.name);
    hashes[relative(directory, path)] = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  }
  return hashes;
}

/** Bazel removes the write permission from its outputs. */
async function removeReadOnly(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    if (((await lstat(path)).mode & 0o200) === 0) await chmod(path, 0o755);
  }
  await rm(root, { recursive: true, force: true });
}
