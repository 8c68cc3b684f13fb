import { type KeyObject, verify } from "node:crypto";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { fitsStars } from "#core/star-pattern.ts";
import { type ImageReference, imageName } from "./image-reference.ts";
import type { SignatureRule } from "./signature-policy.ts";

/** A signature of an image, as cosign stores it in a registry. */
export type ImageSignature =
  /** Of cosign 1 and 2: a text that names the digest of the image, and what belongs to it in annotations. */
  | {
      readonly kind: "simple-signing";
      readonly payload: Uint8Array;
      /** In base64. */
      readonly signature: string;
      /** Of a keyless signature, in PEM. */
      readonly certificate?: string | undefined;
      /** The entry of the log of signatures, in JSON. */
      readonly logEntry?: string | undefined;
      /** An answer of a timestamp authority, in JSON. */
      readonly timestamp?: string | undefined;
    }
  /** Of cosign 3: a bundle of Sigstore, in JSON. */
  | { readonly kind: "bundle"; readonly json: Uint8Array };

/** A text whose signature was verified. */
export interface SignedText {
  readonly kind: "simple-signing" | "in-toto";
  readonly bytes: Uint8Array;
}

/** Who signed without a lasting key, as a verified certificate says. */
export interface CertificateIdentity {
  /** The subject alternative name: a URI, such as that of a workflow, or an email address. */
  readonly identity: string;
  /** The URL of the OpenID Connect provider that confirmed the identity. */
  readonly issuer: string;
}

/** Verifies keyless signatures with the certificate authorities and logs of one trusted root. */
export interface KeylessVerifier {
  /** Throws an error that says why a signature is not valid. */
  verify(signature: ImageSignature): {
    readonly signer: CertificateIdentity;
    readonly text: SignedText;
  };
}

/**
 * Throws `invalid_argument` when none of the signatures is for this image and by a key or an identity of the rule.
 *
 * The text that is signed names the digest. The name of the image in it is not compared, as cosign does not: an image
 * may be copied to another registry with its signatures.
 */
export function requireSignature(
  rule: SignatureRule,
  reference: ImageReference,
  digest: string,
  signatures: readonly ImageSignature[],
): void {
  const reasons: string[] = [];
  for (const signature of signatures) {
    const why = whyRefused(rule, digest, signature);
    if (why === undefined) return;
    reasons.push(why);
  }
  const why =
    signatures.length === 0
      ? "it has no signature"
      : `none of its ${signatures.length} signatures counts: ${[...new Set(reasons)].slice(0, 3).join("; ")}`;
  throw new Fault(
    "invalid_argument",
    `${imageName(reference)} may not run here: ${why}. The operator of the worker lists keys and identities in GRANGE_WORKER_IMAGE_KEYS; sign the image with \`cosign sign\``,
  );
}

/** Returns undefined for a signature that counts. */
function whyRefused(
  rule: SignatureRule,
  digest: string,
  signature: ImageSignature,
): string | undefined {
  const text = rule.keys
    .map((key) => textSignedBy(key, signature))
    .find((found) => found !== undefined);
  if (text !== undefined) return whyNotFor(digest, text);
  if (rule.keyless.length === 0) return "it was not made with a key of the operator";
  let reason = "";
  for (const { verifier, signers } of rule.keyless) {
    try {
      const verified = verifier.verify(signature);
      const why = whyNotBy(signers, verified.signer) ?? whyNotFor(digest, verified.text);
      if (why === undefined) return undefined;
      reason = why;
    } catch (cause) {
      reason = shortened(messageOf(cause));
    }
  }
  return reason;
}

function whyNotBy(
  allowed: readonly CertificateIdentity[],
  { identity, issuer }: CertificateIdentity,
): string | undefined {
  const isAllowed = allowed.some(
    (each) => each.issuer === issuer && fitsStars(each.identity.split("*"), identity),
  );
  if (isAllowed) return undefined;
  return `it is by ${quoted(identity)} of the issuer ${quoted(issuer)}, whom the operator does not list`;
}

function whyNotFor(digest: string, text: SignedText): string | undefined {
  return digestsIn(text).includes(digest) ? undefined : "it is for another digest";
}

const SimpleSigning = z.object({
  critical: z.object({
    type: z.literal("cosign container image signature"),
    image: z.object({ "docker-manifest-digest": z.string() }),
  }),
});

/**
 * What a statement must say about an image to count as its signature: that somebody signed it, or built it. Others, such
 * as a list of its vulnerabilities, may be about an image that its author would not run.
 */
const predicateTypes = [
  "https://sigstore.dev/cosign/sign/v1",
  "https://slsa.dev/provenance/v1",
] as const;

const Statement = z.object({
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })).max(1_000),
  predicateType: z.enum(predicateTypes),
});

/** Returns the digests of the images that a text is about; none for a text of another kind. */
function digestsIn({ kind, bytes }: SignedText): readonly string[] {
  try {
    const json: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    switch (kind) {
      case "simple-signing":
        return [SimpleSigning.parse(json).critical.image["docker-manifest-digest"]];
      case "in-toto":
        return Statement.parse(json).subject.flatMap(({ digest: { sha256 } }) =>
          sha256 === undefined ? [] : [`sha256:${sha256}`],
        );
    }
  } catch {
    return [];
  }
}

/** The type of the texts in bundles. */
export const statementType = "application/vnd.in-toto+json";

const BundleWithEnvelope = z.object({
  dsseEnvelope: z.object({
    payload: z.base64(),
    payloadType: z.literal(statementType),
    signatures: z.array(z.object({ sig: z.base64() })).max(8),
  }),
});

function textSignedBy(key: KeyObject, signature: ImageSignature): SignedText | undefined {
  switch (signature.kind) {
    case "simple-signing": {
      const { payload } = signature;
      const isSigned = isSignedBy(key, payload, signature.signature);
      return isSigned ? { kind: "simple-signing", bytes: payload } : undefined;
    }
    case "bundle": {
      const envelope = envelopeIn(signature.json);
      if (envelope === undefined) return undefined;
      const bytes = Buffer.from(envelope.payload, "base64");
      const signed = encodedForSignature(envelope.payloadType, bytes);
      const isSigned = envelope.signatures.some(({ sig }) => isSignedBy(key, signed, sig));
      return isSigned ? { kind: "in-toto", bytes } : undefined;
    }
  }
}

function envelopeIn(json: Uint8Array) {
  try {
    return BundleWithEnvelope.parse(JSON.parse(Buffer.from(json).toString("utf8"))).dsseEnvelope;
  } catch {
    return undefined;
  }
}

/** What a signature of DSSE signs (PAE of https://github.com/secure-systems-lab/dsse). */
function encodedForSignature(type: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

function isSignedBy(key: KeyObject, payload: Uint8Array, signature: string): boolean {
  const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  try {
    return verify(algorithm, payload, key, Buffer.from(signature, "base64"));
  } catch {
    return false;
  }
}

/** Texts of certificates and registries may be long, and may contain control characters. */
function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
