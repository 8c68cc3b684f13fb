import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { digestForName } from "#cas/digest-in-name.ts";
import type { Digest } from "#core/digest.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";

/** The limit for one response: about 90 bytes each, and gRPC clients accept 4 MiB. */
export const mostNamed = 20_000;

/**
 * The one form of "upload these and try again" that all clients understand: a single PreconditionFailure, only
 * violations of type MISSING, all blobs at once.
 */
export function missingBlobs(digests: readonly Digest[]) {
  return {
    code: Code.FAILED_PRECONDITION,
    message: `${digests.length} input blobs are missing`,
    details: [
      anyPack(
        PreconditionFailureSchema,
        create(PreconditionFailureSchema, {
          violations: digests.map((digest) => ({
            type: "MISSING",
            subject: `blobs/${digestForName(digest)}`,
          })),
        }),
      ),
    ],
  };
}
