/** X.509 certificates for tests, which Node can read but not make. */
import { createHash, type KeyObject, sign } from "node:crypto";

/** Returns a value in DER. */
export const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
export const sequence = (...parts: readonly Uint8Array[]) => tlv(0x30, ...parts);
export const octets = (...parts: readonly Uint8Array[]) => tlv(0x04, ...parts);
const bits = (bytes: Uint8Array) => tlv(0x03, Buffer.from([0]), bytes);
const utf8 = (text: string) => tlv(0x0c, Buffer.from(text));
const yes = tlv(0x01, Buffer.from([0xff]));
/** Of less than 128. */
export const integer = (value: number) => tlv(0x02, Buffer.from([value & 0x7f]));

/** Returns an object identifier. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** Generalized time, in seconds. */
export const time = (at: Date) =>
  tlv(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]|\.\d+/g, "")}`));

/** The name of a subject or an issuer. */
export const name = (text: string) => sequence(tlv(0x31, sequence(oid("2.5.4.3"), utf8(text))));

const extension = (id: string, value: Uint8Array, critical = false) =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(value));

export const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));

const spkiOf = (key: KeyObject) => key.export({ type: "spki", format: "der" });

/** What the identifiers of keys and logs are made of. */
export const sha256 = (...parts: readonly Uint8Array[]) =>
  createHash("sha256").update(Buffer.concat(parts)).digest();

interface Certificate {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: {
    readonly name: string;
    readonly publicKey: KeyObject;
    readonly privateKey: KeyObject;
  };
  readonly from: Date;
  readonly until: Date;
  readonly extensions: readonly Buffer[];
}

/** The key usage that the authority of certificates has. */
export const authorityExtensions = [
  extension("2.5.29.19", sequence(yes, integer(1)), true),
  extension("2.5.29.15", tlv(0x03, Buffer.from([1, 0x06])), true),
];

/** The extensions of a certificate for a signer, as Fulcio writes them: the identity is a URI, or an email address. */
export function signerExtensions(identity: string, issuer: string): Buffer[] {
  const tag = identity.includes("://") ? 0x86 : 0x81;
  return [
    extension("2.5.29.15", tlv(0x03, Buffer.from([7, 0x80])), true),
    extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.3"))),
    extension("2.5.29.17", sequence(tlv(tag, Buffer.from(identity))), true),
    extension("1.3.6.1.4.1.57264.1.8", utf8(issuer)),
  ];
}

/** A log of certificates, which promises by its signature to contain one (RFC 6962). */
interface CertificateLog {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Returns a certificate in DER; with a log, one that contains its promise. */
export function certificateOf(certificate: Certificate, log?: CertificateLog): Buffer {
  const { issuer } = certificate;
  const bare = contentOf(certificate, certificate.extensions);
  const content =
    log === undefined
      ? bare
      : contentOf(certificate, [
          ...certificate.extensions,
          extension("1.3.6.1.4.1.11129.2.4.2", octets(promiseOf(bare, certificate, log))),
        ]);
  return sequence(content, ecdsaWithSha256, bits(sign("sha256", content, issuer.privateKey)));
}

function contentOf(
  { subject, publicKey, issuer, from, until }: Certificate,
  extensions: readonly Buffer[],
): Buffer {
  const keys = [
    extension("2.5.29.14", octets(sha256(spkiOf(publicKey)).subarray(0, 20))),
    extension("2.5.29.35", sequence(tlv(0x80, sha256(spkiOf(issuer.publicKey)).subarray(0, 20)))),
  ];
  return sequence(
    tlv(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    name(issuer.name),
    sequence(time(from), time(until)),
    name(subject),
    spkiOf(publicKey),
    tlv(0xa3, sequence(...keys, ...extensions)),
  );
}

function promiseOf(content: Buffer, { issuer, from }: Certificate, log: CertificateLog): Buffer {
  const at = Buffer.alloc(8);
  at.writeBigUInt64BE(BigInt(from.getTime()));
  const version = Buffer.from([0]);
  const signed = Buffer.concat([
    version,
    // The kind of signature, and of an entry: a certificate before its promise.
    Buffer.from([0]),
    at,
    number(1, 2),
    sha256(spkiOf(issuer.publicKey)),
    number(content.length, 3),
    content,
    number(0, 2),
  ]);
  const signature = sign("sha256", signed, log.privateKey);
  const promise = Buffer.concat([
    version,
    sha256(spkiOf(log.publicKey)),
    at,
    number(0, 2),
    // SHA-256 and ECDSA.
    Buffer.from([4, 3]),
    number(signature.length, 2),
    signature,
  ]);
  return Buffer.concat([number(promise.length + 2, 2), number(promise.length, 2), promise]);
}

function number(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
