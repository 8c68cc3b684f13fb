import { createHash, createPublicKey, verify } from "node:crypto";
import { z } from "zod";
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
export type Statement = z.infer<typeof statement>;

export interface Checked {
  readonly statement: Statement;
  readonly envelope: Provenance["envelopes"][number];
  /** Empty when it holds. */
  readonly problem: string;
}

/** Reads each envelope, and whether it is signed by the key and speaks of the digest. */
export function checkProvenance(
  { envelopes }: Pick<Provenance, "envelopes">,
  hash: string,
  publicKey: Uint8Array,
): Checked[] {
  const x = Buffer.from(publicKey).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const keyId = createHash("sha256").update(publicKey).digest("hex").slice(0, 16);
  return envelopes.map((envelope) => {
    const body = Buffer.from(envelope.payload, "base64");
    const signed = Buffer.concat([
      Buffer.from(
        `DSSEv1 ${envelope.payloadType.length} ${envelope.payloadType} ${body.byteLength} `,
      ),
      body,
    ]);
    const isStatement = envelope.payloadType === "application/vnd.in-toto+json";
    const isSigned = envelope.signatures.some(
      ({ keyid, sig }) => keyid === keyId && verify(null, signed, key, Buffer.from(sig, "base64")),
    );
    const read = statement.parse(JSON.parse(body.toString()));
    const isAbout = read.subject.some(({ digest }) => Object.values(digest).includes(hash));
    const problem =
      isSigned && isStatement
        ? isAbout
          ? ""
          : `it is not about ${hash}`
        : `it is not signed by key ${keyId}`;
    return { statement: read, envelope, problem };
  });
}
