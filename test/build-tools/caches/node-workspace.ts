import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Need } from "../../support/needs/needs.ts";
import { packageFile } from "../../support/needs/package-file.ts";
import { runProgram } from "../../support/process.ts";

export const packages = ["a", "b", "c"];
export const outputs = packages.map((name) => `packages/${name}/dist/out.txt`);

/**
 * Writes a workspace of three packages, each of which depends on the previous one; no package is
 * installed.
 */
export async function nodeWorkspace(dir: string): Promise<void> {
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  };
  const json = (path: string, value: unknown) => write(path, `${JSON.stringify(value)}\n`);
  await json("package.json", {
    name: "cached",
    private: true,
    packageManager: "npm@10.8.2",
    workspaces: ["packages/*"],
  });
  await json("turbo.json", { tasks: { build: { dependsOn: ["^build"], outputs: ["dist/**"] } } });
  await json("nx.json", {
    analytics: false,
    neverConnectToCloud: true,
    targetDefaults: {
      build: { cache: true, dependsOn: ["^build"], outputs: ["{projectRoot}/dist"] },
    },
  });
  await write(".gitignore", "node_modules\ndist\n.turbo\n.nx\n");
  const lock: Record<string, unknown> = { "": { name: "cached", workspaces: ["packages/*"] } };
  await mkdir(join(dir, "node_modules"));
  for (const [i, name] of packages.entries()) {
    const before = packages[i - 1];
    const dependencies = before === undefined ? {} : { [before]: "1.0.0" };
    const build = "mkdir -p dist && (cat src.txt; echo built) > dist/out.txt";
    await json(`packages/${name}/package.json`, {
      name,
      version: "1.0.0",
      scripts: { build },
      dependencies,
    });
    await write(`packages/${name}/src.txt`, `${`${name} `.repeat(200)}\n`);
    await symlink(`../packages/${name}`, join(dir, "node_modules", name));
    lock[`packages/${name}`] = { version: "1.0.0", dependencies };
    lock[`node_modules/${name}`] = { resolved: `packages/${name}`, link: true };
  }
  await json("package-lock.json", {
    name: "cached",
    lockfileVersion: 3,
    requires: true,
    packages: lock,
  });
  const git = (...args: string[]) => runProgram("git", args, { cwd: dir });
  await git("init", "-q");
  await git("add", "-A");
  await git("-c", "user.email=a@example.com", "-c", "user.name=a", "commit", "-qm", "Begin");
}

export function fromNpm(name: string): { readonly path: string; readonly need: Need } {
  return packageFile("Turborepo and Nx", `.bin/${name}`);
}
