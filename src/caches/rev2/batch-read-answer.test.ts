import { create, fromBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  BatchReadBlobsResponseSchema,
  Compressor_Value,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { StatusSchema } from "#proto/google/rpc/status_pb.ts";
import { batchReadAnswer } from "./batch-read-answer.ts";

const blobRead = fc.record({
  digest: fc
    .record({ hash: fc.string(), sizeBytes: fc.bigInt(0n, 1n << 40n) })
    .map((init) => create(DigestSchema, init)),
  data: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat(50_000).map((length) => new Uint8Array(length).fill(7)),
  ),
  compressor: fc.constantFrom(Compressor_Value.IDENTITY, Compressor_Value.ZSTD),
  status: fc
    .oneof(fc.constant({}), fc.record({ code: fc.nat(16), message: fc.string() }))
    .map((init) => create(StatusSchema, init)),
});

test("is the message that it stands for, whatever the blobs", () => {
  fc.assert(
    fc.property(fc.array(blobRead, { maxLength: 20 }), (read) => {
      const message = fromBinary(
        BatchReadBlobsResponseSchema,
        Buffer.concat(batchReadAnswer(read)),
      );
      expect(message.responses.length).toBe(read.length);
      for (const [n, { digest, data, compressor, status }] of read.entries()) {
        const got = message.responses[n];
        expect(got).toMatchObject({ digest, compressor, status });
        expect(Buffer.compare(got?.data ?? Buffer.of(0), data)).toBe(0);
      }
    }),
  );
});

test("sends large blobs from where they are, and small ones in one piece", () => {
  const of = (data: Uint8Array) => ({
    digest: create(DigestSchema),
    data,
    compressor: Compressor_Value.IDENTITY,
    status: create(StatusSchema),
  });
  const large = new Uint8Array(100_000);

  const answer = batchReadAnswer([of(Buffer.of(1)), of(Buffer.of(2)), of(large), of(Buffer.of(3))]);

  expect(answer.length).toBe(3);
  expect(answer[1]).toBe(large);
});
