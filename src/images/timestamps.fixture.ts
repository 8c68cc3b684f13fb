/** Answers of a timestamp authority (RFC 3161) for tests, which Node can neither make nor read. */
import { type KeyObject, sign } from "node:crypto";
import {
  ecdsaWithSha256,
  integer,
  name,
  octets,
  oid,
  sequence,
  sha256,
  time,
  tlv,
} from "./certificates.fixture.ts";

const signedData = oid("1.2.840.113549.1.7.2");
const timestampInfo = oid("1.2.840.113549.1.9.16.1.4");
const contentType = oid("1.2.840.113549.1.9.3");
const messageDigest = oid("1.2.840.113549.1.9.4");
const sha256Algorithm = sequence(oid("2.16.840.1.101.3.4.2.1"));

const set = (...parts: readonly Uint8Array[]) => tlv(0x31, ...parts);
const tagged = (...parts: readonly Uint8Array[]) => tlv(0xa0, ...parts);

/** Returns the answer that says that these bytes existed at this time, signed by a certificate with serial number 1. */
export function timestampOf(
  bytes: Uint8Array,
  at: Date,
  by: { readonly issuer: string; readonly privateKey: KeyObject },
): Buffer {
  const policy = oid("1.2.3.4");
  const imprint = sequence(sha256Algorithm, octets(sha256(bytes)));
  const info = sequence(integer(1), policy, imprint, integer(1), time(at));
  const attributes = [
    sequence(contentType, set(timestampInfo)),
    sequence(messageDigest, set(octets(sha256(info)))),
  ];
  const signer = sequence(
    integer(1),
    sequence(name(by.issuer), integer(1)),
    sha256Algorithm,
    tagged(...attributes),
    ecdsaWithSha256,
    // Signed as a set, but written with a tag of its own (RFC 5652, 5.4).
    octets(sign("sha256", set(...attributes), by.privateKey)),
  );
  const token = sequence(
    integer(3),
    set(sha256Algorithm),
    sequence(timestampInfo, tagged(octets(info))),
    set(signer),
  );
  const granted = sequence(integer(0));
  return sequence(granted, sequence(signedData, tagged(token)));
}
