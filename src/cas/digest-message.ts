import { create } from "@bufbuild/protobuf";
import {
  type Digest,
  type DigestFunction,
  digestFromDigits,
  digestFunctions,
  functionByLength,
  functionOf,
  hexOf,
  isHexOf,
} from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  DigestFunction_Value,
  type Digest as DigestMessage,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** REv2's number of each function. */
export const digestFunctionValues: Readonly<Record<DigestFunction, DigestFunction_Value>> = {
  sha256: DigestFunction_Value.SHA256,
  sha1: DigestFunction_Value.SHA1,
  sha384: DigestFunction_Value.SHA384,
  sha512: DigestFunction_Value.SHA512,
  md5: DigestFunction_Value.MD5,
  blake3: DigestFunction_Value.BLAKE3,
};

const byValue = new Map(
  Object.entries(digestFunctionValues).map(([name, value]) => [value, name as DigestFunction]),
);

/** Returns the function that one of Grange's own messages names; older messages name none, which means SHA-256. */
export function digestFunctionFrom(value: DigestFunction_Value): DigestFunction {
  return value === DigestFunction_Value.UNKNOWN ? "sha256" : known(value, "a message");
}

/** Returns the `digest_function` for a message with this digest. */
export function functionValueOf(digest: Digest): DigestFunction_Value {
  return digestFunctionValues[functionOf(digest)];
}

/** Returns a digest as an REv2 message. The surrounding message names its function. */
export function toDigestMessage(digest: Digest): DigestMessage {
  return create(DigestSchema, { hash: hexOf(digest), sizeBytes: BigInt(digest.sizeBytes) });
}

/**
 * Parses a digest of REv2. `whose` begins the error message for a wrong or absent one.
 *
 * @param digestFunction The `digest_function` of the request; for a digest inside a blob, the function of the blob's
 * own digest. Without it, or when the request has the value unknown, the length of the hash determines the function, as
 * in REv2.
 */
export function fromDigestMessage(
  message: DigestMessage | undefined,
  whose: string,
  digestFunction: DigestFunction_Value | DigestFunction = DigestFunction_Value.UNKNOWN,
): Digest {
  if (message === undefined) throw new Fault("invalid_argument", `${whose} has no digest`);
  return digestFromParts(message.hash, message.sizeBytes, whose, digestFunction);
}

/** The same for a digest whose message was decoded without making an object of it. */
export function digestFromParts(
  hash: string,
  sizeBytes: bigint | number,
  whose: string,
  digestFunction: DigestFunction_Value | DigestFunction,
): Digest {
  const name = functionFor(hash, whose, digestFunction);
  const problem =
    name === undefined || !isHexOf(name, hash)
      ? `${JSON.stringify(hash.slice(0, 200))} is not ${name ? `a ${name} hash` : "a hash"} in lower-case hex digits`
      : problemOfSize(sizeBytes);
  if (name !== undefined && problem === undefined) {
    return digestFromDigits(name, hash, Number(sizeBytes));
  }
  throw new Fault("invalid_argument", `${whose} has no valid digest: ${problem}`);
}

function functionFor(
  hash: string,
  whose: string,
  requested: DigestFunction_Value | DigestFunction,
): DigestFunction | undefined {
  if (typeof requested === "string") return requested;
  if (requested === DigestFunction_Value.UNKNOWN) return functionByLength(hash);
  return known(requested, whose);
}

function known(requested: DigestFunction_Value, whose: string): DigestFunction {
  const name = byValue.get(requested);
  if (name !== undefined) return name;
  const named = Object.entries(DigestFunction_Value).find(([, value]) => value === requested)?.[0];
  const ours = digestFunctions.join(", ").toUpperCase();
  throw new Fault(
    "invalid_argument",
    `${whose} has a digest by function ${named ?? requested}; this server knows ${ours}`,
  );
}

function problemOfSize(sizeBytes: bigint | number): string | undefined {
  return sizeBytes < 0 || sizeBytes > Number.MAX_SAFE_INTEGER
    ? `a blob cannot have ${sizeBytes} bytes`
    : undefined;
}
