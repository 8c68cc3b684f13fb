import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { fitsStars } from "#core/star-pattern.ts";
import { type ImageReference, imageName } from "./image-reference.ts";

/** Which images must have a signature, and by whose key. */
export interface SignaturePolicy {
  /** The rules in the operator's order: the first whose pattern fits the name of an image is its rule. */
  readonly rules: readonly SignatureRule[];
}

interface SignatureRule {
  /** `ghcr.io/me/*`: registry and repository, in which `*` stands for any text. */
  readonly pattern: string;
  readonly keys: readonly KeyObject[];
  /** Names the keys, for images that were verified before. */
  readonly name: string;
}

/** A signature as cosign stores it: of a text that names the digest of the image. */
export interface ImageSignature {
  readonly payload: Uint8Array;
  readonly signature: string;
}

/**
 * Parses a list such as `ghcr.io/me/*=/etc/grange/cosign.pub,*=/etc/grange/all.pub`: patterns of images, and files with
 * public keys in PEM. A file alone is for all images.
 *
 * Throws an error for a file that cannot be read or has no public key.
 */
export function parseSignaturePolicy(text: string): SignaturePolicy {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const at = entry.lastIndexOf("=");
      return at < 0
        ? { pattern: "*", file: entry }
        : { pattern: entry.slice(0, at), file: entry.slice(at + 1) };
    });
  const patterns = [...new Set(entries.map(({ pattern }) => pattern))];
  return {
    rules: patterns.map((pattern) => {
      const keys = entries
        .filter((entry) => entry.pattern === pattern)
        .map(({ file }) => keyIn(file));
      return { pattern, keys, name: nameOf(keys) };
    }),
  };
}

/** Returns the rule for an image; undefined when it needs no signature. */
export function ruleFor(
  { rules }: SignaturePolicy,
  { registry, repository }: ImageReference,
): SignatureRule | undefined {
  return rules.find(({ pattern }) => fitsStars(pattern.split("*"), `${registry}/${repository}`));
}

/** The tag under which cosign stores the signatures of an image. */
export function signatureTag(digest: string): string {
  return `${digest.replace(":", "-")}.sig`;
}

/**
 * Throws `invalid_argument` when none of the signatures is by a key of the rule and for this image.
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
  const isGood = signatures.some(
    ({ payload, signature }) =>
      digestIn(payload) === digest &&
      rule.keys.some((key) => isSignedBy(key, payload, Buffer.from(signature, "base64"))),
  );
  if (isGood) return;
  const why =
    signatures.length === 0
      ? "it has no signature"
      : `none of its ${signatures.length} signatures was made with a key of the operator for this digest`;
  throw new Fault(
    "invalid_argument",
    `${imageName(reference)} may not run here: ${why}. The operator of the worker lists keys in GRANGE_WORKER_IMAGE_KEYS; sign the image with \`cosign sign --key\``,
  );
}

const SignaturePayload = z.object({
  critical: z.object({
    type: z.literal("cosign container image signature"),
    image: z.object({ "docker-manifest-digest": z.string() }),
  }),
});

function digestIn(payload: Uint8Array): string | undefined {
  try {
    const { critical } = SignaturePayload.parse(JSON.parse(Buffer.from(payload).toString("utf8")));
    return critical.image["docker-manifest-digest"];
  } catch {
    return undefined;
  }
}

function isSignedBy(key: KeyObject, payload: Uint8Array, signature: Uint8Array): boolean {
  const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  try {
    return verify(algorithm, payload, key, signature);
  } catch {
    return false;
  }
}

function keyIn(file: string): KeyObject {
  try {
    return createPublicKey(readFileSync(file));
  } catch (cause) {
    throw new Error(`${file} has no public key in PEM, as \`cosign generate-key-pair\` writes it`, {
      cause,
    });
  }
}

function nameOf(keys: readonly KeyObject[]): string {
  const hash = createHash("sha256");
  for (const key of keys) hash.update(key.export({ type: "spki", format: "der" }));
  return hash.digest("hex").slice(0, 32);
}
