import { create } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { digestFromParts, fromDigestMessage } from "#cas/digest-message.ts";
import { skipField } from "#cas/message-parts.ts";
import { type Digest, digestFromDigits, hexDigits } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { mergeRequest } from "#grpc/decode-request.ts";
import {
  ContentAddressableStorage,
  DigestFunction_Value,
  FindMissingBlobsRequestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

const method = ContentAddressableStorage.method.findMissingBlobs;

/** Fields of the wire format: the number, and how the value is written (2: after its length; 0: a varint). */
const blobDigestsField = (2 << 3) | 2;
const hashField = (1 << 3) | 2;
const sizeBytesField = 2 << 3;

/** The length of MD5, the shortest hash. */
const leastHashLength = 32;
/** Each takes a microsecond; a message of 4 MiB might have two million. */
const mostUnusual = 250_000;
/** A varint of more bytes may be a number that a double does not hold. */
const mostSizeLength = 7;

const isHexDigit = new Uint8Array(256);
for (const digit of Buffer.from("0123456789abcdef")) isHexDigit[digit] = 1;

/** A request of which more and more pieces are decoded. */
interface FindMissingRequest {
  /** Decodes the next of the `piecesOf` a request. Throws `internal` when it is not a part of such a request. */
  add(piece: Uint8Array): void;
  readonly instanceName: string;
  /** The number of digests so far. */
  readonly length: number;
  /** Validates a digest. Only at the end of the request is its digest function known. */
  digest(n: number): Digest;
}

/**
 * Decodes a `FindMissingBlobsRequest`.
 *
 * A message object for each digest took a third of a call with 10,000. Digests that are written as all clients write
 * them (a hash in hex digits, then a size) are decoded here into a string and a number. Everything else is left to the
 * general decoder, so that the rules are the same.
 */
export function findMissingRequest(): FindMissingRequest {
  const message = create(FindMissingBlobsRequestSchema);
  const hashes: string[] = [];
  /** A number for what was decoded here, a bigint for what the general decoder returned. */
  const sizes: (number | bigint)[] = [];
  let unusual = 0;

  function addUnusual(field: Uint8Array): void {
    unusual++;
    if (unusual > mostUnusual)
      throw new Fault("resource_exhausted", `a request has over ${mostUnusual} unusual fields`);
    mergeRequest(method, FindMissingBlobsRequestSchema, message, field);
    for (const digest of message.blobDigests) {
      // An invalid hash is refused before a million more are decoded.
      if (digest.hash.length < leastHashLength) fromDigestMessage(digest, "a blob");
      hashes.push(digest.hash);
      sizes.push(digest.sizeBytes);
    }
    message.blobDigests = [];
    delete message.$unknown;
  }

  return {
    add(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const reader = new BinaryReader(piece);
      let end = 0;
      for (let at = 0; at < bytes.length; at = end) {
        end = at + 2 + (bytes[at + 1] ?? 0);
        const hashEnd = usualHashEnd(bytes, at);
        const size = hashEnd === undefined ? undefined : usualSize(bytes, hashEnd, end);
        if (size === undefined) {
          reader.pos = at;
          skipField(reader);
          end = reader.pos;
          addUnusual(piece.subarray(at, end));
        } else {
          hashes.push(bytes.toString("latin1", at + 4, hashEnd));
          sizes.push(size);
        }
      }
    },
    get instanceName() {
      return message.instanceName;
    },
    get length() {
      return hashes.length;
    },
    digest(n) {
      const [hash = "", size = 0] = [hashes[n], sizes[n]];
      const { digestFunction } = message;
      // The digits of what was decoded here need no second look.
      if (typeof size === "number" && hash.length === hexDigits.sha256 && isSha256(digestFunction))
        return digestFromDigits("sha256", hash, size);
      return digestFromParts(hash, size, "a blob", digestFunction);
    },
  };
}

/** Whether 64 digits are of SHA-256. */
function isSha256(digestFunction: DigestFunction_Value): boolean {
  return (
    digestFunction === DigestFunction_Value.UNKNOWN ||
    digestFunction === DigestFunction_Value.SHA256
  );
}

/** Returns where the hash ends when a digest begins here, with its hash, in the usual form; otherwise undefined. */
function usualHashEnd(bytes: Uint8Array, at: number): number | undefined {
  if (bytes[at] !== blobDigestsField || bytes[at + 2] !== hashField) return undefined;
  const length = bytes[at + 1] ?? 0;
  const hashLength = bytes[at + 3] ?? 0;
  // A length of more than one byte is not usual, nor is one that the digest or the piece does not hold.
  if (length > 0x7f || hashLength > length - 2 || hashLength < leastHashLength) return undefined;
  if (at + 2 + length > bytes.length) return undefined;
  const end = at + 4 + hashLength;
  for (let i = at + 4; i < end; i++) if (isHexDigit[bytes[i] as number] === 0) return undefined;
  return end;
}

/** Returns the size of a digest, which is all that follows the hash. */
function usualSize(bytes: Uint8Array, from: number, end: number): number | undefined {
  if (from === end) return 0;
  const length = end - from - 1;
  if (bytes[from] !== sizeBytesField || length < 1 || length > mostSizeLength) return undefined;
  let size = 0;
  for (let i = end - 1; i > from; i--) {
    const byte = bytes[i] as number;
    const isLast = i === end - 1;
    if (byte > 0x7f === isLast) return undefined;
    size = size * 0x80 + (byte & 0x7f);
  }
  return size;
}
