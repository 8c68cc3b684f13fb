import { keepSignature } from "#access/keep-signature.ts";
import type { Where } from "#access/principal.ts";
import { bytesOfPublicKey, publicKeyId, textOfPublicKey } from "#access/public-key.ts";
import { mayDo } from "#access/require-grant.ts";
import { verifySignatures } from "#access/signed-subject.ts";
import { listKeys, type SigningKey } from "#access/signing-key.store.ts";
import { revokeKey, trustKey } from "#access/trust-keys.ts";
import type * as api from "#api/access.ts";
import type { keyEndpoints } from "#api/endpoints/key-endpoints.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { findSignedCatalogs, type SignedCatalog } from "#graphs/catalogs/signed-catalog.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { provenanceOf } from "../provenance-of.ts";
import { changeRights } from "./change-rights.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

export function keyHandlers(services: HandlerServices): HandlersFor<typeof keyEndpoints> {
  const { db } = services;
  const provenance = provenanceOf(services);

  return {
    keys: async () => (await listKeys(db)).map(keyForPage),
    trustKey: ({ body: { name, publicKey }, caller: by }) =>
      changeRights(
        services,
        by,
        "administer",
        { what: "trust key", name, publicKey },
        async (tx, now) => keyForPage(await trustKey(tx, name, publicKey, { by: by.name, now })),
      ),
    revokeKey: ({ params: { name }, caller: by }) =>
      changeRights(services, by, "administer", { what: "revoke key", name }, async (tx, now) =>
        keyForPage(await revokeKey(tx, name, { by: by.name, now })),
      ),

    catalogSignatures: ({ query: { catalog } }) =>
      db.transaction(async (tx) => signaturesOf(tx, await oneCatalog(tx, catalog))),
    signCatalog: ({ body: { catalog, publicKey, signature }, caller: by }) =>
      changeRights(services, by, "sign", { catalog, publicKey }, async (tx, now) => {
        const signed = await oneCatalog(tx, catalog);
        const subject = { kind: "catalog", digest: signed.signedDigest } as const;
        const keyId = publicKeyId(bytesOfPublicKey(publicKey));
        const bytes = Buffer.from(signature, "base64");
        await keepSignature(tx, { subject, keyId, signature: bytes, signedBy: by.name }, now);
        return signaturesOf(tx, signed);
      }),

    async provenance({ query: { digest }, caller }) {
      const mayRead = (place: Where) => mayDo(caller, "read", place);
      return found(
        await provenance(digest, mayRead),
        `output ${digest} of a run that the farm attests`,
      );
    },
  };
}

async function oneCatalog(tx: Tx, written: string): Promise<SignedCatalog> {
  const catalogs = await findSignedCatalogs(tx, written);
  if (catalogs.length > 1) {
    throw new Fault(
      "invalid_argument",
      `"${written}" is the start of several catalogs; write more digits`,
    );
  }
  return found(catalogs[0], `catalog "${written}"`);
}

async function signaturesOf(tx: Tx, signed: SignedCatalog): Promise<api.CatalogSignatures> {
  const signers = await verifySignatures(tx, { kind: "catalog", digest: signed.signedDigest });
  return {
    ...signed,
    signers: signers.map((each) => ({ ...each, signedAt: each.signedAt.toISOString() })),
  };
}

function keyForPage(key: SigningKey): api.SigningKey {
  return {
    ...key,
    publicKey: textOfPublicKey(key.publicKey),
    trustedAt: key.trustedAt.toISOString(),
    revokedAt: key.revokedAt?.toISOString() ?? null,
  };
}
