import { realpathSync } from "node:fs";
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../support/process.ts";
import { fromNpm, nodeWorkspace, outputs, packages } from "./node-workspace.ts";
import { countIn, hashOf, type ToolDriver } from "./tool-driver.ts";

const nxProgram = fromNpm("nx");

export const nx: ToolDriver = {
  name: "Nx",
  needsServer: true,
  need: nxProgram.need,
  async prepare(dir) {
    await nodeWorkspace(dir);
    // Nx requires a copy in the workspace, and does not run without one.
    const program = realpathSync(nxProgram.path);
    const own = program.slice(0, program.lastIndexOf("/nx/") + "/nx".length);
    await symlink(own, join(dir, "node_modules", "nx"));
  },
  async build(dir, cache, token) {
    for (const made of [
      ".nx",
      "nx-cache",
      "nx-data",
      ...packages.map((name) => `packages/${name}/dist`),
    ]) {
      await rm(join(dir, made), { recursive: true, force: true });
    }
    const env = {
      NX_SELF_HOSTED_REMOTE_CACHE_SERVER: `${cache}/nx`,
      NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN: token,
      NX_CACHE_DIRECTORY: join(dir, "nx-cache"),
      NX_WORKSPACE_DATA_DIRECTORY: join(dir, "nx-data"),
      NX_DAEMON: "false",
      NX_NO_CLOUD: "true",
      CI: "1",
      NO_COLOR: "1",
    };
    const args = ["run-many", "-t", "build", "--outputStyle=static"];
    const { code, stdout, stderr } = await runProgram(nxProgram.path, args, { cwd: dir, env });
    const hits = countIn(stdout, /\[remote cache\]/g);
    return {
      code,
      hits,
      misses: packages.length - hits,
      outputs: await hashOf(dir, outputs),
      said: stdout + stderr,
    };
  },
};
