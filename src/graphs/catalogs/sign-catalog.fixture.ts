import { generateKeyPairSync, sign } from "node:crypto";
import { keepSignature } from "#access/keep-signature.ts";
import { publicKeyId, textOfPublicKey } from "#access/public-key.ts";
import { signedSubject } from "#access/signed-subject.ts";
import { trustKey } from "#access/trust-keys.ts";
import type { Db } from "#db/db.ts";
import { findSignedCatalogs } from "./signed-catalog.store.ts";

/** Makes a trusted key and signs the catalog with it. */
export async function signCatalog(db: Db, keyName: string, catalog: string): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const bytes = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const [found] = await findSignedCatalogs(db, catalog.slice(0, 12));
  const subject = { kind: "catalog", digest: found?.signedDigest ?? "" } as const;
  const signature = sign(null, signedSubject("catalog", subject.digest), privateKey);
  const now = new Date();
  await db.transaction(async (tx) => {
    await trustKey(tx, keyName, textOfPublicKey(bytes), { by: "root", now });
    const keyId = publicKeyId(bytes);
    await keepSignature(tx, { subject, keyId, signature, signedBy: "alice" }, now);
  });
}
