import { type SealedFor, seal, unseal } from "#access/secrets/sealed-value.ts";
import type { SecretsKey } from "#access/secrets/secrets-key.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { ForgePlace } from "#forge/forge.ts";
import {
  credentialOfRepository,
  openWays,
  putWay,
  type SealedCredential,
} from "#forge/repository-credential.store.ts";
import { withoutPassword } from "#git/repository-address.ts";

/**
 * The credentials of repositories that are part of their addresses: stored only in the database, encrypted with the key
 * of secrets.
 */
export interface RepositoryCredentials {
  seal(place: ForgePlace, address: string): SealedCredential;
  /** Returns the address with its credentials; unchanged if none are stored. */
  open(place: ForgePlace): Promise<string>;
}

// No secret of a definition can have this name, because their names contain no blanks.
const about = (slug: string): SealedFor => ({
  name: "way into a repository",
  repository: slug,
  branch: "",
  users: null,
  version: 1,
});

export function openedWays(db: Db, key: SecretsKey): RepositoryCredentials {
  return {
    seal: ({ slug }, address) => ({
      keyId: key.id,
      sealed: new Uint8Array(seal(key, about(slug), Buffer.from(address))),
    }),
    async open(place) {
      const { slug } = place;
      const way = await credentialOfRepository(db, place);
      if (way === undefined) return slug;
      const address = way.keyId === key.id ? unseal(key, about(slug), way.sealed) : undefined;
      if (address !== undefined) return Buffer.from(address).toString();
      throw new Fault(
        "failed_precondition",
        `the credentials for ${slug} were encrypted with another key (${way.keyId}): restore that key (GRANGE_SECRETS_KEY), or remove the repository with \`grange forge remove\` and add it again`,
      );
    },
  };
}

/** Encrypts credentials that an earlier version stored in clear. Several servers may do this at the same time. */
export async function encryptStoredCredentials(
  db: Db,
  ways: RepositoryCredentials,
): Promise<number> {
  return db.transaction(async (tx) => {
    const open = await openWays(tx);
    for (const { name, kind, slug } of open) {
      const shown = withoutPassword(slug);
      await putWay(tx, name, { slug: shown, way: ways.seal({ kind, slug: shown }, slug) });
    }
    return open.length;
  });
}
