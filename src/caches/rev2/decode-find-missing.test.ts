import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { skipField } from "#cas/message-parts.ts";
import { mergeRequest, piecesOf } from "#grpc/decode-request.ts";
import {
  ContentAddressableStorage,
  DigestFunction_Value,
  DigestSchema,
  FindMissingBlobsRequestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { findMissingRequest } from "./decode-find-missing.ts";

const method = ContentAddressableStorage.method.findMissingBlobs;

/** What was decoded, or the error. */
function outcomeOf(decode: () => { instanceName: string; digests: unknown }) {
  try {
    return decode();
  } catch (reason) {
    const { code, message } = reason as { code: string; message: string };
    return { code, message };
  }
}

/** Decodes by the code under test. */
function decoded(bytes: Uint8Array) {
  return outcomeOf(() => {
    const request = findMissingRequest();
    for (const piece of piecesOf(method, bytes)) request.add(piece);
    const digests = Array.from({ length: request.length }, (_, n) => request.digest(n));
    return { instanceName: request.instanceName, digests };
  });
}

/**
 * Decodes by the decoder of all other messages, which is what the code under test has to agree with: field by field,
 * because that decoder does not notice a digest that ends behind the end of its field.
 */
function decodedGenerally(bytes: Uint8Array) {
  return outcomeOf(() => {
    const message = create(FindMissingBlobsRequestSchema);
    // Where the request is no message at all, nothing of it is decoded.
    const reader = new BinaryReader(bytes);
    const ends: number[] = [];
    for (const _ of piecesOf(method, bytes));
    while (reader.pos < bytes.length) {
      skipField(reader);
      ends.push(reader.pos);
    }
    let from = 0;
    for (const end of ends) {
      mergeRequest(method, FindMissingBlobsRequestSchema, message, bytes.subarray(from, end));
      from = end;
      const last = message.blobDigests.at(-1);
      if (last !== undefined && last.hash.length < 32) fromDigestMessage(last, "a blob");
    }
    const { instanceName, blobDigests, digestFunction } = message;
    const digests = blobDigests.map((d) => fromDigestMessage(d, "a blob", digestFunction));
    return { instanceName, digests };
  });
}

const hex = (length: number) =>
  fc.string({
    unit: fc.constantFrom(..."0123456789abcdef".split("")),
    minLength: length,
    maxLength: length,
  });
const hash = fc.oneof(
  { weight: 10, arbitrary: hex(64) },
  { weight: 3, arbitrary: fc.constantFrom(32, 40, 96, 128).chain(hex) },
  fc.string({ maxLength: 70 }),
  hex(64).map((digits) => digits.toUpperCase()),
  hex(64).map((digits) => `${digits.slice(1)}é`),
);
const sizeBytes = fc.oneof(
  { weight: 5, arbitrary: fc.maxSafeNat().map(BigInt) },
  fc.constantFrom(0n, 127n, 128n, 1n << 49n, (1n << 53n) - 1n, 1n << 53n, -1n),
  fc.bigInt(-(1n << 63n), (1n << 63n) - 1n),
);
const digestFunction = fc.oneof(
  { weight: 5, arbitrary: fc.constant(DigestFunction_Value.UNKNOWN) },
  fc.constantFrom(
    DigestFunction_Value.SHA256,
    DigestFunction_Value.BLAKE3,
    DigestFunction_Value.VSO,
  ),
);

const lengthDelimited = (tag: number, value: Uint8Array) =>
  Buffer.concat([Buffer.from([tag, value.length & 0x7f]), value.subarray(0, value.length & 0x7f)]);
const usualDigest = fc
  .record({ hash, sizeBytes })
  .map((digest) => toBinary(DigestSchema, create(DigestSchema, digest)));
/** Bytes of a digest in forms that no client writes: other orders, unknown fields, long varints, wrong wire types. */
const digestPart = fc.oneof(
  hex(64).map((digits) => lengthDelimited(0x0a, Buffer.from(digits))),
  fc
    .constantFrom(
      [0x10, 7],
      [0x10, 0x87, 0x00],
      [0x10, 0x87, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
      [0x10, 0x80],
      [0x18, 1],
      [0x1a, 1, 0],
      [0x0d, 1, 2, 3, 4],
      [0x14],
    )
    .map((bytes) => Buffer.from(bytes)),
);
const otherDigest = fc.array(digestPart, { maxLength: 3 }).map((parts) => Buffer.concat(parts));
const field = fc.oneof(
  { weight: 6, arbitrary: usualDigest.map((digest) => lengthDelimited(0x12, digest)) },
  otherDigest.map((digest) => lengthDelimited(0x12, digest)),
  fc.constantFrom("", "main", "é").map((name) => lengthDelimited(0x0a, Buffer.from(name))),
  digestFunction.map((value) => Buffer.from([0x18, value])),
  fc.constantFrom([0x22, 1, 0], [0x28, 1], [0x92, 0, 0], [0x23, 0x24]).map((b) => Buffer.from(b)),
);

test("agrees with the general decoder about requests of valid and invalid digests", () => {
  const request = fc.record({
    instanceName: fc.string({ maxLength: 3 }),
    blobDigests: fc.array(fc.record({ hash, sizeBytes }), { maxLength: 6 }),
    digestFunction,
  });
  fc.assert(
    fc.property(request, (init) => {
      const bytes = toBinary(
        FindMissingBlobsRequestSchema,
        create(FindMissingBlobsRequestSchema, init),
      );

      expect(decoded(bytes)).toEqual(decodedGenerally(bytes));
    }),
  );
});

test("agrees with the general decoder about fields in all orders and forms", () => {
  fc.assert(
    fc.property(fc.array(field, { maxLength: 6 }), (fields) => {
      const bytes = Buffer.concat(fields);

      expect(decoded(bytes)).toEqual(decodedGenerally(bytes));
    }),
    { numRuns: 1_000 },
  );
});

test("agrees with the general decoder about changed and cut bytes", () => {
  const changed = fc
    .record({
      fields: fc.array(field, { minLength: 1, maxLength: 4 }),
      at: fc.nat(400),
      byte: fc.nat(255),
      cut: fc.option(fc.nat(400)),
    })
    .map(({ fields, at, byte, cut }) => {
      const bytes = Buffer.concat(fields);
      bytes[at % bytes.length] = byte;
      return bytes.subarray(0, cut === null ? bytes.length : cut % (bytes.length + 1));
    });
  fc.assert(
    fc.property(changed, (bytes) => {
      expect(decoded(bytes)).toEqual(decodedGenerally(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test("refuses millions of fields that no client writes", () => {
  const bytes = Buffer.alloc(2_000_000, Buffer.from([0x0a, 0]));

  expect(decoded(bytes)).toMatchObject({ code: "resource_exhausted" });
});
