import { realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { matchesPattern } from "#access/matches-pattern.ts";
import { type Grant, type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import type { GraphChoice } from "#api/graph-choice.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { parseRepositoryAddress, withoutPassword } from "#git/repository-address.ts";
import { knownRepository } from "./catalogs/known-repository.store.ts";
import { proposedName } from "./repository.store.ts";

/** The repositories, and the directories on the server's machine, that a caller may make the farm read. */
export interface RepositoryAccess {
  /**
   * Throws `permission_denied` unless the caller may submit graphs of some branch of the repository. Checks this before
   * using the network or the file system, so that a refusal does not reveal what exists.
   */
  requireMayRead(by: Principal, repository: string): Promise<void>;
  /** Throws `permission_denied` unless the caller may use this directory. */
  requireMayReadDirectory(by: Principal, path: string): Promise<void>;
}

interface RepositoryAccessOptions {
  readonly db: Db;
  /** The directory to which relative paths are relative. */
  readonly workingDirectory: string;
  /** A caller with a right on a repository may use its path below one of these. */
  readonly sharedDirectories: readonly string[];
  /** The directories of data of all repositories, such as mirrors: no address may name a path in them. */
  readonly farmDirectories: readonly string[];
}

export function repositoryAccess({
  db,
  workingDirectory,
  sharedDirectories,
  farmDirectories,
}: RepositoryAccessOptions): RepositoryAccess {
  const requireMayReadDirectory = async (by: Principal, path: string) => {
    const isAdministrator = mayDo(by, "administer", wholeFarm);
    const named = resolve(workingDirectory, path);
    const isShared = sharedDirectories.some((directory) => isIn(named, resolve(directory)));
    // Checked before the path is read, so that the answers for existing and missing paths are the same.
    if (!isAdministrator && !isShared) throw refused(path);
    const real = await realPathOf(named);
    const isBelowOneOf = async (directories: readonly string[]) =>
      (await Promise.all(directories.map(realPathOf))).some((directory) => isIn(real, directory));
    if (await isBelowOneOf(farmDirectories)) throw refused(path);
    if (isAdministrator) return;
    // A link below a shared directory may lead out of it.
    if (!(await isBelowOneOf(sharedDirectories))) throw refused(path);
  };

  return {
    requireMayReadDirectory,

    async requireMayRead(by, repository) {
      const known = await knownRepository(db, repository);
      const address = parseRepositoryAddress(repository, workingDirectory);
      // A known path was first named by a caller with the right to, and the repository's name has its own rights.
      if (known === undefined && address.kind === "local") {
        await requireMayReadDirectory(by, address.path);
      }
      const url = address.kind === "local" ? address.path : withoutPassword(address.url);
      const name = known ?? (await proposedName(db, url));
      const covers = ({ verb, repository: pattern }: Grant) =>
        (verb === "submit" || verb === "*") && matchesPattern(pattern, name);
      // Any branch counts: a principal that may build one branch can read the repository with all its history.
      if (by.grants.some(covers)) return;
      requireGrant(by, "submit", { repository: name, branch: "" });
    },
  };
}

/** The same for definitions that a request reads from a source other than its commit. */
export async function requireMayReadDefinitions(
  access: RepositoryAccess,
  by: Principal,
  from: GraphChoice["definitionsFrom"],
): Promise<void> {
  if (from?.kind === "repository") await access.requireMayRead(by, from.repository);
  if (from?.kind === "directory") await access.requireMayReadDirectory(by, from.path);
}

/** Resolves links; returns the path itself when it does not exist. */
function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

function isIn(path: string, directory: string): boolean {
  return (
    path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
  );
}

function refused(path: string): Fault {
  return new Fault(
    "permission_denied",
    `${path}: a path of the server's machine may be named by an administrator of the farm, or below a directory ` +
      "that its operator lists in GRANGE_LOCAL_REPOSITORIES; give the repository's URL",
  );
}
