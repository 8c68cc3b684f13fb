import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { grange } from "./farm.ts";

/** A copy of the built program. */
export interface Release {
  /** The file that Node starts. */
  readonly program: string;
  readonly remove: () => Promise<void>;
}

/** Returns the number of the newest migration of the built program. */
export async function newestBuiltMigration(): Promise<number> {
  const names = await readdir(join(dirname(grange), "migrations"));
  return Math.max(...names.map((name) => Number.parseInt(name, 10)));
}

/** Copies the built program and adds migrations, as a later release has them. */
export async function laterRelease(migrations: Readonly<Record<string, string>>): Promise<Release> {
  const built = dirname(grange);
  const top = await mkdtemp(join(tmpdir(), "grange-release-"));
  const copy = promisify(execFile);
  await copy("cp", ["-a", built, join(top, "dist")]);
  await copy("cp", [join(dirname(built), "package.json"), top]);
  await symlink(join(dirname(built), "node_modules"), join(top, "node_modules"));
  for (const [name, text] of Object.entries(migrations))
    await writeFile(join(top, "dist", "migrations", name), text);
  return {
    program: join(top, "dist", "grange.js"),
    remove: () => rm(top, { recursive: true, force: true }),
  };
}
