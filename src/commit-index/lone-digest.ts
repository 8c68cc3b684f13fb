import { create } from "@bufbuild/protobuf";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import {
  type Digest as DigestMessage,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

const blake3Prefix = "blake3-";

/**
 * Encodes a digest without a separate function field, for messages with digests of several functions. BLAKE3 would
 * count as SHA-256 by its length, so its hash gets the function's name as prefix.
 */
export function toLoneDigest(digest: Digest): DigestMessage {
  return functionOf(digest) === "blake3"
    ? create(DigestSchema, { hash: digest.hash, sizeBytes: BigInt(digest.sizeBytes) })
    : toDigestMessage(digest);
}

/** The inverse. Throws `invalid_argument`; `whose` begins the message. */
export function fromLoneDigest(message: DigestMessage | undefined, whose: string): Digest {
  if (!message?.hash.startsWith(blake3Prefix)) return fromDigestMessage(message, whose);
  const plain = { ...message, hash: message.hash.slice(blake3Prefix.length) };
  return fromDigestMessage(plain, whose, "blake3");
}
