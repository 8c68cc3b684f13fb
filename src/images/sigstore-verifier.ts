import { createHash, X509Certificate } from "node:crypto";
import { type Bundle, bundleFromJSON } from "@sigstore/bundle";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { z } from "zod";
import {
  type ImageSignature,
  type KeylessVerifier,
  type SignedText,
  statementType,
} from "./image-signatures.ts";

/**
 * Opens a verifier for a trusted root of Sigstore, the `trusted_root.json` of its TUF repository. It works without network.
 *
 * A signature needs an entry in a log (Rekor), and a time from the log or from a timestamp authority at which its
 * certificate was valid. If the trusted root has logs of certificates, the certificate must be in one of them.
 *
 * Throws an error that names `source` for a text that is no trusted root.
 */
export function openSigstoreVerifier(json: unknown, source: string): KeylessVerifier {
  const root = readTrustedRoot(json, source);
  const verifier = new Verifier(toTrustMaterial(root), {
    ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
  });
  return {
    verify(signature) {
      const bundle = bundleOf(signature);
      requirePlainNames(bundle);
      const payload = signature.kind === "simple-signing" ? signature.payload : undefined;
      const { identity } = verifier.verify(
        toSignedEntity(bundle, payload === undefined ? undefined : Buffer.from(payload)),
      );
      const subject = identity?.subjectAlternativeName;
      const issuer = identity?.extensions?.issuer;
      if (subject === undefined || issuer === undefined)
        throw new Error("it was made with a key, and not with a certificate that names its signer");
      return { signer: { identity: subject, issuer }, text: textOf(signature, bundle) };
    },
  };
}

function readTrustedRoot(json: unknown, source: string): TrustedRoot {
  try {
    const root = TrustedRoot.fromJSON(json);
    if (!root.mediaType.startsWith("application/vnd.dev.sigstore.trustedroot"))
      throw new Error("its mediaType is another one");
    if (root.certificateAuthorities.length === 0)
      throw new Error("it has no certificateAuthorities");
    if (root.tlogs.length === 0) throw new Error("it has no tlogs");
    // Reads all certificates and keys.
    toTrustMaterial(root);
    return root;
  } catch (cause) {
    throw new Error(
      `${source} is no trusted root of Sigstore, as \`cosign trusted-root create\` writes it`,
      { cause },
    );
  }
}

function bundleOf(signature: ImageSignature): Bundle {
  return bundleFromJSON(
    signature.kind === "bundle"
      ? JSON.parse(Buffer.from(signature.json).toString("utf8"))
      : bundleOfAnnotations(signature),
  );
}

/** Only what the verifier has verified; a bundle could have the other kind of content beside it. */
function textOf(signature: ImageSignature, { content }: Bundle): SignedText {
  if (signature.kind === "simple-signing")
    return { kind: "simple-signing", bytes: signature.payload };
  if (content.$case !== "dsseEnvelope" || content.dsseEnvelope.payloadType !== statementType)
    throw new Error("it is not of a statement about an image");
  return { kind: "in-toto", bytes: content.dsseEnvelope.payload };
}

const LogEntry = z.object({
  SignedEntryTimestamp: z.base64(),
  Payload: z.object({
    body: z.base64(),
    integratedTime: z.number().int().nonnegative(),
    logIndex: z.number().int().nonnegative(),
    logID: z.string().regex(/^[0-9a-f]{64}$/),
  }),
});

const LogBody = z.object({ kind: z.string(), apiVersion: z.string() });

const Timestamp = z.object({ SignedRFC3161Timestamp: z.base64() });

function jsonOf<T>(schema: z.ZodType<T>, text: string, what: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${what} cannot be read`, { cause });
  }
}

/** Returns the annotations of cosign 1 and 2 as a bundle, in JSON. */
function bundleOfAnnotations(
  signature: Extract<ImageSignature, { kind: "simple-signing" }>,
): unknown {
  const { certificate, logEntry, timestamp } = signature;
  if (certificate === undefined) throw new Error("it has no certificate");
  if (logEntry === undefined) throw new Error("it has no entry of a log");
  const { SignedEntryTimestamp, Payload } = jsonOf(LogEntry, logEntry, "its entry of a log");
  const body = jsonOf(
    LogBody,
    Buffer.from(Payload.body, "base64").toString("utf8"),
    "the body of its entry of a log",
  );
  const timestamps =
    timestamp === undefined || timestamp === ""
      ? []
      : [{ signedTimestamp: jsonOf(Timestamp, timestamp, "its timestamp").SignedRFC3161Timestamp }];
  return {
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      x509CertificateChain: {
        certificates: [{ rawBytes: new X509Certificate(certificate).raw.toString("base64") }],
      },
      tlogEntries: [
        {
          logIndex: `${Payload.logIndex}`,
          logId: { keyId: Buffer.from(Payload.logID, "hex").toString("base64") },
          kindVersion: { kind: body.kind, version: body.apiVersion },
          integratedTime: `${Payload.integratedTime}`,
          inclusionPromise: { signedEntryTimestamp: SignedEntryTimestamp },
          canonicalizedBody: Payload.body,
        },
      ],
      timestampVerificationData: { rfc3161Timestamps: timestamps },
    },
    messageSignature: {
      messageDigest: {
        algorithm: "SHA2_256",
        digest: createHash("sha256").update(signature.payload).digest("base64"),
      },
      signature: signature.signature,
    },
  };
}

/**
 * Throws an error for a checkpoint whose signatures have names that no log has.
 *
 * `@sigstore/verify` 3.1.1 uses these names, which anybody can write, as regular expressions: one with nested repetitions
 * would stop the worker for minutes.
 */
function requirePlainNames({ verificationMaterial }: Bundle): void {
  for (const { inclusionProof } of verificationMaterial.tlogEntries) {
    const envelope = inclusionProof?.checkpoint?.envelope ?? "";
    for (const [, name = ""] of envelope.matchAll(/\u2014 (\S+) /g)) {
      if (!/^[\w.:/-]{1,256}$/.test(name))
        throw new Error("a checkpoint of its log has a signature by a name that no log has");
    }
  }
}
