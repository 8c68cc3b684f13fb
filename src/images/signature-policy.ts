import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { fitsStars } from "#core/star-pattern.ts";
import type { ImageReference } from "./image-reference.ts";
import type { CertificateIdentity, KeylessVerifier } from "./image-signatures.ts";

/** Which images must have a signature, and by whom. */
export interface SignaturePolicy {
  /** The rules in the operator's order: the first whose pattern fits the name of an image is its rule. */
  readonly rules: readonly SignatureRule[];
}

/** An image of the rule needs a signature by one of the keys or of the identities. */
export interface SignatureRule {
  /** `ghcr.io/me/*`: registry and repository, in which `*` stands for any text. */
  readonly pattern: string;
  readonly keys: readonly KeyObject[];
  readonly keyless: readonly KeylessSigners[];
  /** Names keys, identities and trusted roots, for images that were verified before. */
  readonly name: string;
}

interface KeylessSigners {
  /** In an identity, `*` stands for any text. */
  readonly signers: readonly CertificateIdentity[];
  readonly verifier: KeylessVerifier;
}

/**
 * Reads a list such as `ghcr.io/me/*=/etc/grange/cosign.pub,*=/etc/grange/signers.json`: patterns of images, and files. A
 * file has a public key in PEM, or in JSON the identities of keyless signatures. A file alone is for all images.
 *
 * Throws an error for a file that cannot be read or has neither.
 */
export async function readSignaturePolicy(text: string): Promise<SignaturePolicy> {
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
  const read = await Promise.all(
    entries.map(async ({ pattern, file }) => ({ pattern, ...(await signersIn(file)) })),
  );
  const patterns = [...new Set(read.map(({ pattern }) => pattern))];
  return {
    rules: patterns.map((pattern) => {
      const own = read.filter((entry) => entry.pattern === pattern);
      return {
        pattern,
        keys: own.flatMap(({ keys }) => keys),
        keyless: own.flatMap(({ keyless }) => keyless),
        name: nameOf(own.map(({ content }) => content)),
      };
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

interface SignersOfFile {
  readonly keys: readonly KeyObject[];
  readonly keyless: readonly KeylessSigners[];
  /** Changes when another signature counts. */
  readonly content: Uint8Array;
}

async function signersIn(file: string): Promise<SignersOfFile> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(`${file} of GRANGE_WORKER_IMAGE_KEYS cannot be read`, { cause });
  });
  if (text.trimStart().startsWith("{")) return keylessSignersIn(text, file);
  try {
    const key = createPublicKey(text);
    return { keys: [key], keyless: [], content: key.export({ type: "spki", format: "der" }) };
  } catch (cause) {
    throw new Error(
      `${file} has no public key in PEM, as \`cosign generate-key-pair\` writes it, and no identities in JSON`,
      { cause },
    );
  }
}

const Identity = z
  .string()
  .max(1_000)
  .refine((identity) => !/^[*]*$/.test(identity), {
    message: "must name somebody: with every identity of an issuer, anybody could sign",
  });

const KeylessFile = z.strictObject({
  trustedRoot: z.string().min(1),
  signers: z.array(z.strictObject({ identity: Identity, issuer: z.url() })).min(1),
});

async function keylessSignersIn(text: string, file: string): Promise<SignersOfFile> {
  const parsed = KeylessFile.safeParse(parseJson(text, file));
  if (!parsed.success)
    throw new Error(
      `${file} has no identities of signers, {"trustedRoot": FILE, "signers": [{"identity": …, "issuer": …}]}: ${z.prettifyError(parsed.error)}`,
    );
  const { trustedRoot, signers } = parsed.data;
  const path = resolve(dirname(file), trustedRoot);
  const root = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`${path}, the trusted root of ${file}, cannot be read`, { cause });
  });
  // Nobody else needs the packages that verify such signatures.
  const { openSigstoreVerifier } = await import("./sigstore-verifier.ts");
  const verifier = openSigstoreVerifier(parseJson(root, path), path);
  const content = Buffer.from(JSON.stringify([signers, root]));
  return { keys: [], keyless: [{ signers, verifier }], content };
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file} is not JSON`, { cause });
  }
}

function nameOf(contents: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const content of contents) hash.update(content);
  return hash.digest("hex").slice(0, 32);
}
