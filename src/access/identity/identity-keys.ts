import { createHash, createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Db } from "#db/db.ts";
import { seal, unseal } from "../secrets/sealed-value.ts";
import type { SecretsKey } from "../secrets/secrets-key.ts";
import {
  addIdentityKey,
  identityKeys,
  lockIdentityKeys,
  PublicJwk,
  type StoredKey,
} from "./identity-key.store.ts";

/** The keys of identity tokens. */
export interface IdentityKeys {
  /** Returns the key that signs now; creates it at the first call. */
  signing(): Promise<{ readonly id: string; readonly privateKey: KeyObject }>;
  /** Returns the public keys for verifiers (RFC 7517). */
  published(): Promise<{ readonly keys: readonly PublishedKey[] }>;
}

interface PublishedKey {
  readonly kid: string;
  readonly kty: "RSA";
  readonly n: string;
  readonly e: string;
  readonly alg: "RS256";
  readonly use: "sig";
}

/** RS256 with 2,048 bits: the one algorithm that every cloud and registry accepts. */
const modulusLength = 2_048;

export function openIdentityKeys(db: Db, secretsKey: SecretsKey): IdentityKeys {
  let signing: Promise<{ id: string; privateKey: KeyObject }> | undefined;

  async function usable(): Promise<{ id: string; privateKey: KeyObject }> {
    const found = firstOpened(await identityKeys(db), secretsKey);
    if (found !== undefined) return found;
    const made = await newKey(secretsKey);
    return db.transaction(async (tx) => {
      await lockIdentityKeys(tx);
      const other = firstOpened(await identityKeys(tx), secretsKey);
      if (other !== undefined) return other;
      await addIdentityKey(tx, made.stored);
      return { id: made.stored.id, privateKey: made.privateKey };
    });
  }

  return {
    signing() {
      signing ??= usable().catch((reason: unknown) => {
        signing = undefined;
        throw reason;
      });
      return signing;
    },
    async published() {
      await this.signing();
      const keys = await identityKeys(db);
      return {
        keys: keys.map(({ id, publicKey }) => ({
          kid: id,
          ...publicKey,
          alg: "RS256" as const,
          use: "sig" as const,
        })),
      };
    },
  };
}

/** Keys that were sealed with another key of secrets cannot sign any more; a new one is then made. */
function firstOpened(stored: readonly StoredKey[], secretsKey: SecretsKey) {
  for (const { id, sealed, sealedBy } of stored) {
    const bytes = sealedBy === secretsKey.id ? unseal(secretsKey, about(id), sealed) : undefined;
    if (bytes === undefined) continue;
    const key = Buffer.from(bytes);
    return { id, privateKey: createPrivateKey({ key, format: "der", type: "pkcs8" }) };
  }
  return undefined;
}

async function newKey(secretsKey: SecretsKey) {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("rsa", { modulusLength });
  const jwk = PublicJwk.parse(publicKey.export({ format: "jwk" }));
  // RFC 7638: the members in this order.
  const thumbprint = JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n });
  const id = createHash("sha256").update(thumbprint).digest("base64url");
  const sealed = seal(secretsKey, about(id), privateKey.export({ format: "der", type: "pkcs8" }));
  return { privateKey, stored: { id, publicKey: jwk, sealed, sealedBy: secretsKey.id } };
}

/** No secret has this name: it has a character that names of secrets do not have. */
function about(id: string) {
  return { name: `identity key ${id}`, repository: "", branch: "", users: null, version: 1 };
}
