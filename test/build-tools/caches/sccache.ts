import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { sccacheNeed, sccacheProgram } from "../../support/needs/sccache-need.ts";
import { runProgram } from "../../support/process.ts";
import { hashOf, type ToolDriver } from "./tool-driver.ts";

const units = ["one", "two", "three", "four"];

/** What sccache compiles: C files by gcc, or the crates of a workspace by cargo. */
interface Compiled {
  prepare(dir: string): Promise<void>;
  /** The script of a build, in the directory of the workspace. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputs: readonly string[];
}

const c: Compiled = {
  async prepare(dir) {
    for (const [n, unit] of units.entries())
      await writeFile(join(dir, `${unit}.c`), `int ${unit}(int a) { return a * ${n}; }\n`);
  },
  script: [
    "rm -f *.o",
    ...units.map((unit) => `"$SCCACHE" gcc -c ${unit}.c -o ${unit}.o || code=$?`),
  ].join("\n"),
  env: {},
  outputs: units.map((unit) => `${unit}.o`),
};

const rust: Compiled = {
  async prepare(dir) {
    const members = units.map((unit) => `"${unit}"`).join(", ");
    await writeFile(join(dir, "Cargo.toml"), `[workspace]\nmembers = [${members}]\n`);
    for (const [n, unit] of units.entries()) {
      await mkdir(join(dir, unit, "src"), { recursive: true });
      await writeFile(
        join(dir, unit, "Cargo.toml"),
        `[package]\nname = "${unit}"\nversion = "0.1.0"\nedition = "2021"\n`,
      );
      await writeFile(
        join(dir, unit, "src/lib.rs"),
        `pub fn times(a: i32) -> i32 {\n    a * ${n}\n}\n`,
      );
    }
  },
  script: "rm -rf target\ncargo build --offline --quiet || code=$?",
  // Incremental compilations are not cached.
  env: { CARGO_INCREMENTAL: "0" },
  outputs: units.map((unit) => `target/debug/lib${unit}.rlib`),
};

/** sccache with the WebDAV cache of the farm. */
export function sccache(kind: "gcc" | "cargo"): ToolDriver {
  const compiled = kind === "gcc" ? c : rust;
  return {
    name: `sccache with ${kind}`,
    need: sccacheNeed(kind),
    prepare: (dir) => compiled.prepare(dir),
    async build(dir, cache, token) {
      const program = sccacheProgram ?? "sccache";
      // Its server must not outlive the build, because a server of another build would have other settings.
      const script = `code=0
${compiled.script}
"$SCCACHE" --show-stats --stats-format=json
"$SCCACHE" --stop-server >/dev/null 2>&1
exit $code`;
      const env = {
        HOME: process.env["HOME"] ?? dir,
        SCCACHE: program,
        SCCACHE_CONF: join(dir, "no-configuration"),
        SCCACHE_IDLE_TIMEOUT: "60",
        SCCACHE_SERVER_PORT: String(await freePort()),
        SCCACHE_WEBDAV_ENDPOINT: `${cache}/sccache`,
        SCCACHE_WEBDAV_TOKEN: token,
        ...(kind === "cargo" && { RUSTC_WRAPPER: program }),
        ...compiled.env,
      };
      const { code, stdout, stderr } = await runProgram("sh", ["-c", script], { cwd: dir, env });
      return {
        code,
        hits: counted(stdout, "cache_hits"),
        misses: counted(stdout, "cache_misses"),
        outputs: await hashOf(dir, compiled.outputs),
        said: stderr,
      };
    },
  };
}

/** Returns the sum of one of sccache's counts over all languages. */
function counted(stats: string, what: string): number {
  const counts = new RegExp(`"${what}":\\{"counts":\\{([^}]*)\\}`).exec(stats)?.[1] ?? "";
  return [...counts.matchAll(/:(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
