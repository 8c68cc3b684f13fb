import { rm } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../support/process.ts";
import { fromNpm, nodeWorkspace, outputs, packages } from "./node-workspace.ts";
import { countIn, hashOf, type ToolDriver } from "./tool-driver.ts";

const program = fromNpm("turbo");

/** Turborepo; if `signed`, it signs its artifacts, and so detects changed ones. */
export function turborepo(signed: boolean): ToolDriver {
  return {
    name: signed ? "Turborepo, signing" : "Turborepo",
    need: program.need,
    prepare: nodeWorkspace,
    async build(dir, cache, token) {
      for (const made of [
        ".turbo",
        "node_modules/.cache",
        ...packages.flatMap((name) => [`packages/${name}/.turbo`, `packages/${name}/dist`]),
      ]) {
        await rm(join(dir, made), { recursive: true, force: true });
      }
      const env = {
        TURBO_API: `${cache}/turborepo`,
        TURBO_TOKEN: token,
        TURBO_TEAM: signed ? "signed" : "plain",
        TURBO_TELEMETRY_DISABLED: "1",
        TURBO_PREFLIGHT: signed ? "true" : "false",
        TURBO_REMOTE_CACHE_SIGNATURE: String(signed),
        TURBO_REMOTE_CACHE_SIGNATURE_KEY: "a key of more than thirty-two bytes, as it should be",
        NO_COLOR: "1",
      };
      const { code, stdout, stderr } = await runProgram(program.path, ["run", "build"], {
        cwd: dir,
        env,
      });
      return {
        code,
        hits: countIn(stdout, /:build: cache hit, /g),
        misses: countIn(stdout, /:build: cache (miss|bypass), /g),
        outputs: await hashOf(dir, outputs),
        said: stdout + stderr,
      };
    },
  };
}
