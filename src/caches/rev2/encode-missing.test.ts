import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestFrom, digestFunctions, hexDigits } from "#core/digest.ts";
import { FindMissingBlobsResponseSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { encodeMissing } from "./encode-missing.ts";

const someDigest = fc.constantFrom(...digestFunctions).chain((name) =>
  fc
    .tuple(
      fc.string({
        unit: fc.constantFrom(..."0123456789abcdef".split("")),
        minLength: hexDigits[name],
        maxLength: hexDigits[name],
      }),
      fc.oneof(
        fc.constantFrom(0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
        fc.maxSafeNat(),
      ),
    )
    .map(([hex, sizeBytes]) => digestFrom(name, hex, sizeBytes)),
);

test("its bytes are those of protobuf's own encoding, for digests of all functions and sizes", () => {
  fc.assert(
    fc.property(fc.array(someDigest, { maxLength: 20 }), (digests) => {
      const message = create(FindMissingBlobsResponseSchema, {
        missingBlobDigests: digests.map(toDigestMessage),
      });

      expect(Buffer.from(encodeMissing(digests))).toEqual(
        Buffer.from(toBinary(FindMissingBlobsResponseSchema, message)),
      );
    }),
  );
});
