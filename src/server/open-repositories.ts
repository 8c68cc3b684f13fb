import { join } from "node:path";
import type { Logger } from "pino";
import type { SecretsKey } from "#access/secrets/secrets-key.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Db } from "#db/db.ts";
import { findWatched } from "#forge/repository.store.ts";
import { openMirrors } from "#git/fetch-commit.ts";
import { openGit } from "#git/run-git.ts";
import { CommitInputReader } from "#graphs/commit-inputs.ts";
import { repositoryAccess } from "#graphs/repository-access.ts";
import type { ServerConfig } from "./config.ts";
import type { DataDirectory } from "./data-directory.ts";
import { openForges } from "./forge/open-forges.ts";
import { encryptStoredCredentials, openedWays } from "./forge/repository-credentials.ts";
import type { Keep } from "./keep-services.ts";
import { privateHostsNow } from "./private-hosts.ts";

/** Opens Git, the mirrors of repositories, the rights to read them, and their forges. */
export async function openRepositories(
  config: RepositoryConfig,
  parts: {
    readonly directory: DataDirectory;
    readonly db: Db;
    readonly logger: Logger;
    /** The store for the files of commits. */
    readonly store: BlobStore;
    readonly secretsKey: SecretsKey;
    readonly keep: Keep;
  },
) {
  const { directory, db, logger, secretsKey, keep } = parts;
  const privateHosts = privateHostsNow(db, config);
  const git = keep(await openGit(join(directory.path, "git"), privateHosts));
  const mirrors = openMirrors({
    git,
    directory: directory.mirrors,
    workingDirectory: process.cwd(),
  });
  const inputs = new CommitInputReader({ git, mirrors, db, store: parts.store });
  const ways = openedWays(db, secretsKey);
  await encryptStoredCredentials(db, ways);
  const forges = keep(await openForges(config.forges ?? {}, { git, logger, ways }));
  const access = repositoryAccess({
    db,
    workingDirectory: process.cwd(),
    sharedDirectories: config.localRepositories ?? [],
    farmDirectories: [directory.mirrors, directory.blobs],
  });
  const isWatched = async (name: string) => (await findWatched(db, name))?.name === name;
  return { privateHosts, git, mirrors, inputs, forges, access, isWatched };
}

/** Settings of repositories and forges. */
type RepositoryConfig = Parameters<typeof privateHostsNow>[1] &
  Partial<Pick<ServerConfig, "forges" | "localRepositories">>;
