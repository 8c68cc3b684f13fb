import { createHash, createPublicKey, verify } from "node:crypto";
import { z } from "zod";
import { openEnvelope } from "#access/provenance/envelope.ts";
import type { Provenance } from "#api/provenance.ts";

const statement = z.object({
  _type: z.literal("https://in-toto.io/Statement/v1"),
  predicateType: z.literal("https://slsa.dev/provenance/v1"),
  subject: z.array(z.object({ name: z.string(), digest: z.record(z.string(), z.string()) })),
  predicate: z.object({
    buildDefinition: z.object({
      externalParameters: z.object({
        commit: z.string(),
        branch: z.string(),
        repository: z.string(),
      }),
    }),
    runDetails: z.object({
      builder: z.object({ id: z.string() }),
      metadata: z.object({ invocationId: z.string(), finishedOn: z.string() }),
    }),
  }),
});
type Statement = z.infer<typeof statement>;

export interface Checked {
  readonly envelope: Provenance["envelopes"][number];
  /** The verified statement; an envelope with an invalid signature is not parsed. */
  readonly found:
    | { readonly kind: "holds"; readonly statement: Statement }
    | { readonly kind: "refused"; readonly problem: string };
}

/** Finds the envelopes that the key (Ed25519, 32 bytes) signed and whose statement names the digest. */
export function checkProvenance(
  { envelopes }: Pick<Provenance, "envelopes">,
  hash: string,
  publicKey: Uint8Array,
): Checked[] {
  const x = Buffer.from(publicKey).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const keyId = createHash("sha256").update(publicKey).digest("hex").slice(0, 16);
  const isOurs = (id: string, signed: Uint8Array, signature: Uint8Array) =>
    id === keyId && verify(null, signed, key, signature);
  const refused = (problem: string) => ({ kind: "refused", problem }) as const;
  return envelopes.map((envelope) => {
    const body = openEnvelope(isOurs, envelope);
    if (body === undefined)
      return { envelope, found: refused(`the key ${keyId} has not signed it`) };
    const read = statement.safeParse(body);
    if (!read.success) return { envelope, found: refused("it is not a provenance statement") };
    const isAbout = read.data.subject.some(({ digest }) => Object.values(digest).includes(hash));
    if (!isAbout) return { envelope, found: refused(`it is not about ${hash}`) };
    return { envelope, found: { kind: "holds", statement: read.data } };
  });
}
