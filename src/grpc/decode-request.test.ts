import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  BatchUpdateBlobsRequestSchema,
  ContentAddressableStorage,
  FindMissingBlobsRequestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { decodeInTurns, MalformedRequest, piecesOf } from "./decode-request.ts";

const method = ContentAddressableStorage.method.batchUpdateBlobs;

test("decodes in turns what the decoder does at once", async () => {
  const blob = fc.record({
    data: fc.uint8Array({ maxLength: 30_000 }),
    digest: fc.record({ hash: fc.string(), sizeBytes: fc.bigInt(0n, 1n << 40n) }),
  });
  const request = fc.record({ instanceName: fc.string(), requests: fc.array(blob) });
  await fc.assert(
    fc.asyncProperty(request, async (init) => {
      const bytes = toBinary(
        BatchUpdateBlobsRequestSchema,
        create(BatchUpdateBlobsRequestSchema, init),
      );
      const decoded = await decodeInTurns(method, BatchUpdateBlobsRequestSchema, bytes);
      expect(decoded).toEqual(fromBinary(BatchUpdateBlobsRequestSchema, bytes));
    }),
  );
});

test("cuts a message into pieces that are all of it", () => {
  const blobDigests = Array.from({ length: 2_000 }, (_, n) => ({
    hash: "a".repeat(64),
    sizeBytes: BigInt(n),
  }));
  const bytes = toBinary(
    FindMissingBlobsRequestSchema,
    create(FindMissingBlobsRequestSchema, { blobDigests }),
  );
  const pieces = [...piecesOf(method, bytes)];
  expect(pieces.length).toBeGreaterThan(5);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

test("cuts what is of many small parts into pieces of few parts", () => {
  const bytes = Buffer.alloc(100_000, Buffer.from([0x12, 0]));
  const pieces = [...piecesOf(method, bytes)];
  expect(Math.max(...pieces.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(2_000);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

test("refuses millions of empty parts, and what is no message, wherever it is cut", async () => {
  const empties = Buffer.alloc(2_000_000, Buffer.from([0x12, 0]));
  const decode = (bytes: Uint8Array) => decodeInTurns(method, BatchUpdateBlobsRequestSchema, bytes);
  await expect(decode(empties)).rejects.toMatchObject({ code: "resource_exhausted" });
  const broken = Buffer.concat([empties.subarray(0, 100_000), Buffer.alloc(64, 0xff)]);
  await expect(decode(broken)).rejects.toBeInstanceOf(MalformedRequest);
  await expect(decode(broken)).rejects.toMatchObject({ code: "internal" });
});
