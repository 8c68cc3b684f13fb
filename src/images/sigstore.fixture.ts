/**
 * An installation of Sigstore for tests: an authority of certificates, a log of them, a log of signatures, and an authority
 * of timestamps.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import {
  authorityExtensions,
  certificateOf,
  sha256,
  signerExtensions,
} from "./certificates.fixture.ts";
import { type ImageSignature, statementType } from "./image-signatures.ts";
import { timestampOf } from "./timestamps.fixture.ts";

const minuteMs = 60_000;

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const spkiOf = ({ publicKey }: ReturnType<typeof keyPair>) =>
  publicKey.export({ type: "spki", format: "der" });
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

interface Signing {
  readonly identity: string;
  readonly issuer: string;
  /** Of the certificate, which is valid for 10 minutes. */
  readonly issuedAt?: Date;
  /** When the log has the signature; by default a minute after the certificate was issued. */
  readonly loggedAt?: Date;
  /** Whether the log of certificates promises to contain it. */
  readonly isCertificateLogged?: boolean;
  /** Of the statement. */
  readonly predicateType?: string;
}

export class SigstoreForTests {
  readonly #authority = keyPair();
  readonly #certificateLog = keyPair();
  readonly #log = keyPair();
  readonly #timestamps = keyPair();
  readonly #beganAt = new Date("2026-01-01T00:00:00Z");

  /** Its keys, as the file `trusted_root.json` of an installation has them. */
  trustedRoot() {
    const log = (baseUrl: string, pair: ReturnType<typeof keyPair>) => ({
      baseUrl,
      hashAlgorithm: "SHA2_256",
      publicKey: {
        rawBytes: base64(spkiOf(pair)),
        keyDetails: "PKIX_ECDSA_P256_SHA_256",
        validFor: { start: this.#beganAt.toISOString() },
      },
      logId: { keyId: base64(sha256(spkiOf(pair))) },
    });
    const certificate = (subject: string, { publicKey }: ReturnType<typeof keyPair>) =>
      certificateOf({
        subject,
        publicKey,
        issuer: { name: "authority", ...this.#authority },
        from: this.#beganAt,
        until: new Date("2036-01-01T00:00:00Z"),
        extensions: subject === "authority" ? authorityExtensions : [],
      });
    const own = certificate("authority", this.#authority);
    const timestamps = certificate("timestamps", this.#timestamps);
    return {
      mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
      tlogs: [log("https://rekor.example", this.#log)],
      certificateAuthorities: [
        {
          subject: { organization: "example", commonName: "authority" },
          uri: "https://fulcio.example",
          certChain: { certificates: [{ rawBytes: base64(own) }] },
          validFor: { start: this.#beganAt.toISOString() },
        },
      ],
      ctlogs: [log("https://ct.example", this.#certificateLog)],
      timestampAuthorities: [
        {
          subject: { organization: "example", commonName: "timestamps" },
          uri: "https://timestamps.example",
          certChain: { certificates: [timestamps, own].map((der) => ({ rawBytes: base64(der) })) },
          validFor: { start: this.#beganAt.toISOString() },
        },
      ],
    };
  }

  /** Signs as `cosign sign` 1 and 2 do. */
  simpleSigning(
    digest: string,
    signing: Signing,
  ): Extract<ImageSignature, { kind: "simple-signing" }> {
    const { certificate, privateKey } = this.#certificate(signing);
    const payload = Buffer.from(
      JSON.stringify({
        critical: {
          identity: { "docker-reference": "example/image" },
          image: { "docker-manifest-digest": digest },
          type: "cosign container image signature",
        },
        optional: null,
      }),
    );
    const signature = base64(sign("sha256", payload, privateKey));
    const body = {
      apiVersion: "0.0.1",
      kind: "hashedrekord",
      spec: {
        data: { hash: { algorithm: "sha256", value: sha256(payload).toString("hex") } },
        signature: { content: signature },
      },
    };
    const { entry, promise } = this.#logEntry(body, signing);
    return {
      kind: "simple-signing",
      payload,
      signature,
      certificate: `-----BEGIN CERTIFICATE-----\n${base64(certificate)}\n-----END CERTIFICATE-----\n`,
      logEntry: JSON.stringify({ SignedEntryTimestamp: promise, Payload: entry }),
    };
  }

  /** Signs as `cosign sign` 3 does. Returns the bundle, in which tests may change something. */
  bundle(digest: string, signing: Signing) {
    const { certificate, privateKey } = this.#certificate(signing);
    const payload = statementAbout(digest, signing.predicateType);
    const signature = base64(sign("sha256", encodedForSignature(payload), privateKey));
    const body = {
      apiVersion: "0.0.1",
      kind: "dsse",
      spec: {
        payloadHash: { algorithm: "sha256", value: sha256(payload).toString("hex") },
        signatures: [{ signature }],
      },
    };
    const { entry, promise, checkpoint, rootHash } = this.#logEntry(body, signing);
    return {
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: {
        certificate: { rawBytes: base64(certificate) },
        tlogEntries: [
          {
            logIndex: `${entry.logIndex}`,
            logId: { keyId: base64(Buffer.from(entry.logID, "hex")) },
            kindVersion: { kind: body.kind, version: body.apiVersion },
            integratedTime: `${entry.integratedTime}`,
            inclusionPromise: { signedEntryTimestamp: promise },
            inclusionProof: {
              logIndex: "0",
              rootHash,
              treeSize: "1",
              hashes: [],
              checkpoint: { envelope: checkpoint },
            },
            canonicalizedBody: entry.body,
          },
        ],
      },
      dsseEnvelope: {
        payload: base64(payload),
        payloadType: statementType,
        signatures: [{ sig: signature }],
      },
    };
  }

  /** Returns the answer of the timestamp authority about a signature, in base64. */
  timestamp(signature: string, at: Date): string {
    const { privateKey } = this.#timestamps;
    return base64(
      timestampOf(Buffer.from(signature, "base64"), at, { issuer: "authority", privateKey }),
    );
  }

  #certificate(signing: Signing) {
    const { publicKey, privateKey } = keyPair();
    const from = issuedAt(signing);
    const certificate = certificateOf(
      {
        subject: "signer",
        publicKey,
        issuer: { name: "authority", ...this.#authority },
        from,
        until: new Date(from.getTime() + 10 * minuteMs),
        extensions: signerExtensions(signing.identity, signing.issuer),
      },
      signing.isCertificateLogged === false ? undefined : this.#certificateLog,
    );
    return { certificate, privateKey };
  }

  /** The only entry of a log, with the log's promise to contain it and the signed state of the log. */
  #logEntry(body: object, signing: Signing) {
    const bytes = Buffer.from(JSON.stringify(body));
    const at = signing.loggedAt ?? new Date(issuedAt(signing).getTime() + minuteMs);
    const logId = sha256(spkiOf(this.#log));
    // The log signs it with its keys in this order.
    const entry = {
      body: base64(bytes),
      integratedTime: at.getTime() / 1_000,
      logID: logId.toString("hex"),
      logIndex: 7,
    };
    const rootHash = base64(sha256(Buffer.from([0]), bytes));
    const state = `rekor.example - 1\n1\n${rootHash}\n`;
    const signed = Buffer.concat([
      logId.subarray(0, 4),
      sign("sha256", Buffer.from(state), this.#log.privateKey),
    ]);
    return {
      entry,
      rootHash,
      promise: base64(sign("sha256", Buffer.from(JSON.stringify(entry)), this.#log.privateKey)),
      checkpoint: `${state}\n\u2014 rekor.example ${base64(signed)}\n`,
    };
  }
}

function issuedAt({ issuedAt: at }: Signing): Date {
  return at ?? new Date("2026-06-01T00:00:00Z");
}

/** Returns a statement of in-toto, as cosign writes it. */
export function statementAbout(
  digest: string,
  predicateType = "https://sigstore.dev/cosign/sign/v1",
): Buffer {
  return Buffer.from(
    JSON.stringify({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ digest: { sha256: digest.slice("sha256:".length) } }],
      predicateType,
      predicate: {},
    }),
  );
}

/** What a signature of an envelope signs (DSSE). */
export function encodedForSignature(payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${statementType.length} ${statementType} ${payload.length} `),
    payload,
  ]);
}
