import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { ImageSignature } from "#images/image-signatures.ts";
import { openSigstoreVerifier } from "#images/sigstore-verifier.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";
import { jsonWords } from "./importer-targets.ts";

/**
 * Signatures that `SigstoreForTests` of `src/images/sigstore.fixture.ts` made once: with new keys in each run, a seed
 * would not give the same inputs.
 */
const Signed = z.object({
  trustedRoot: z.unknown(),
  bundle: z.unknown(),
  annotations: z.object({
    payload: z.string(),
    signature: z.string(),
    certificate: z.string(),
    logEntry: z.string(),
  }),
});

/** What registries have beside an image: signatures without a lasting key, in both forms of cosign. */
export function signatureTargets(): FuzzTarget[] {
  const file = join(import.meta.dirname, "signed-image.json");
  const { trustedRoot, bundle, annotations } = Signed.parse(JSON.parse(readFileSync(file, "utf8")));
  const verifier = openSigstoreVerifier(trustedRoot, file);
  const bundleOf = (bytes: Uint8Array): ImageSignature => ({ kind: "bundle", json: bytes });
  const target = (
    name: string,
    seed: unknown,
    read: (bytes: Uint8Array) => ImageSignature,
  ): FuzzTarget => {
    const bytes = Buffer.from(JSON.stringify(seed));
    const expected = verifier.verify(read(bytes));
    return {
      name,
      isSlow: true,
      seeds: [bytes],
      words: [...jsonWords, '"checkpoint":', '"tlogEntries":', "\u2014 (a+)+ ", "AAAA", "=="],
      // Each error of the verifier refuses a signature; what counts is that no changed one is accepted.
      refusals: [Error],
      read(input) {
        const { signer, text } = verifier.verify(read(input));
        if (
          signer.identity !== expected.signer.identity ||
          signer.issuer !== expected.signer.issuer
        )
          throw new BrokenLaw(`it counts as signed by ${JSON.stringify(signer)}`);
        if (
          text.kind !== expected.text.kind ||
          !Buffer.from(text.bytes).equals(expected.text.bytes)
        )
          throw new BrokenLaw("another text counts as signed");
        return signer;
      },
    };
  };
  return [
    target("bundles of Sigstore", bundle, bundleOf),
    target("signatures in annotations", annotations, annotationsIn),
  ];
}

function annotationsIn(bytes: Uint8Array): ImageSignature {
  const { payload, ...rest } = Signed.shape.annotations.parse(
    JSON.parse(Buffer.from(bytes).toString()),
  );
  return { kind: "simple-signing", payload: Buffer.from(payload), ...rest };
}
